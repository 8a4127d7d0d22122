import { Client, type ClientConfig } from "pg";
import { isSilence } from "./errors.ts";

/** Work that takes longer than this makes a node check whether its server still responds, milliseconds. */
const SILENCE_MS = 3_000;
/** How long a server may take to accept a connection and to respond on it, milliseconds each. */
const ANSWER_MS = 3_000;

/**
 * Distinguishes a busy server from one that is frozen or unreachable. A broken connection reports an error, but one to
 * a frozen server looks like one with a slow statement. So another connection is opened: a server that doesn't respond
 * there either is considered gone.
 */
export class Probe {
	readonly #configOf: () => ClientConfig;
	readonly #onSilent: () => void;
	#running = false;

	/**
	 * @param configOf how to connect to the current server
	 * @param onSilent called if it doesn't respond
	 */
	constructor(configOf: () => ClientConfig, onSilent: () => void) {
		this.#configOf = configOf;
		this.#onSilent = onSilent;
	}

	/**
	 * Checks the server for as long as this work takes.
	 *
	 * @returns ends it
	 */
	watch(): () => void {
		const timer = setInterval(() => void this.#look(), SILENCE_MS);
		timer.unref();
		return () => clearInterval(timer);
	}

	async #look(): Promise<void> {
		if (this.#running) return;
		this.#running = true;
		const limits = { connectionTimeoutMillis: ANSWER_MS, query_timeout: ANSWER_MS };
		const client = new Client({ ...this.#configOf(), ...limits, application_name: "posthorn probe" });
		client.on("error", () => undefined);
		try {
			await client.connect();
			await client.query("SELECT");
		} catch (error) {
			// A server that refuses the connection has responded, and the reason may be ours.
			if (isSilence(error)) this.#onSilent();
		} finally {
			this.#running = false;
			client.connection.stream.destroy();
		}
	}
}
