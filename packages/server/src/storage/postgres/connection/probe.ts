import { Client, type ClientConfig } from "pg";
import { isSilence } from "./errors.ts";

/** Work that takes longer than this makes a node check whether its server still answers, milliseconds. */
const SILENCE_MS = 3_000;
/** How long a server may take to accept a connection and to answer on it, milliseconds each. */
const ANSWER_MS = 3_000;

/**
 * Tells a server that is busy from one that is frozen or out of reach. A broken connection says so itself, but one to a
 * frozen server looks like one whose statement takes long. So another connection is opened: a server that doesn't
 * answer there either is considered gone.
 */
export class Probe {
	readonly #configOf: () => ClientConfig;
	readonly #onSilent: () => void;
	#running = false;

	/**
	 * @param configOf how to connect to the server that is used now
	 * @param onSilent called when it gives no answer
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
			// One that refuses the connection has answered, and what it lacks may be ours.
			if (isSilence(error)) this.#onSilent();
		} finally {
			this.#running = false;
			client.connection.stream.destroy();
		}
	}
}
