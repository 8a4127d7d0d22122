/**
 * The servers in a database URL. One of them takes writes at a time; the others follow it until one is promoted.
 * Connections go to the last server used. If it can't be reached or is read-only, the others are tried in turn.
 */
import { Client, type ClientBase, type ClientConfig } from "pg";
import { serverUrls } from "../../../base/text.ts";
import { StorageError } from "../../port.ts";
import { isLoginRefused, isPoolBusy, isSilence, storageError } from "./errors.ts";
import { openClient, plainConfig } from "./session-settings.ts";

/** Values of libpq's `target_session_attrs` that skip read-only servers. */
const WRITABLE: readonly (string | null)[] = ["read-write", "primary"];

export class Hosts {
	#urls: readonly string[];
	readonly #mustWrite: boolean;
	readonly #reread: () => string | null;
	#at = 0;

	/** @param reread returns the current URL, whose user and password may have changed; null if it can't be read */
	constructor(url: string, reread: () => string | null = () => null) {
		this.#urls = urlsOf(url);
		this.#reread = reread;
		const wanted = new URL(this.#urls[0]!).searchParams.get("target_session_attrs");
		this.#mustWrite = WRITABLE.includes(wanted) || (wanted === null && this.#urls.length > 1);
	}

	/** The URL of the server that connections go to now. */
	get current(): string {
		return this.#urls[this.#at]!;
	}

	/**
	 * Connects to one server after the other until one accepts. Rejects with the error of a single server, or with each
	 * server's reason.
	 */
	async connect<T>(connect: (url: string) => Promise<T>): Promise<T> {
		const refusals: string[] = [];
		for (;;) {
			const url = this.current;
			try {
				return await connect(url);
			} catch (error) {
				if (this.renewLogin(error, url)) continue;
				if (this.#urls.length === 1 || !isServersFault(error)) throw error;
				refusals.push(`${new URL(url).host}: ${(error as Error).message}`);
				// Another caller may have switched servers.
				if (url === this.current) this.#at = (this.#at + 1) % this.#urls.length;
				if (refusals.length === this.#urls.length)
					throw new StorageError(
						"lost",
						`No server in the database URL accepts writes (${refusals.join("; ")}): retrying.`,
						{ cause: error },
					);
			}
		}
	}

	/**
	 * Reads user and password again if a connection failed because of them; later connections use the new ones. Returns
	 * whether they differ from those that the connection used, so that another try is worthwhile.
	 */
	renewLogin(error: unknown, used: string = this.current): boolean {
		if (!isLoginRefused(error)) return false;
		const text = this.#reread();
		const urls = text === null ? [] : urlsOf(text);
		// Another database isn't a new login.
		if (String(urls.map(withoutLogin)) === String(this.#urls.map(withoutLogin))) this.#urls = urls;
		return this.current !== used;
	}

	/**
	 * Runs `work` on a connection of its own, without the session settings unless they are in `config`. Rejects with a
	 * StorageError if the database fails.
	 */
	async once<T>(work: (client: Client) => Promise<T>, config: ClientConfig = {}): Promise<T> {
		try {
			return await this.connect((url) => this.#runOn({ ...plainConfig(url), ...config }, work));
		} catch (error) {
			throw storageError(error);
		}
	}

	async #runOn<T>(config: ClientConfig, work: (client: Client) => Promise<T>): Promise<T> {
		const client = await openClient(config);
		try {
			await this.check(client);
			return await work(client);
		} finally {
			await client.end();
		}
	}

	/** Rejects if the connection is read-only and must not be. */
	async check(client: ClientBase): Promise<void> {
		if (this.#mustWrite) await checkWritable(client);
	}
}

/** Up to the database's name, and the name. */
const NAME = /^(\w+:\/\/[^/?#]*\/)([^?#]*)/;
/** Characters that the driver leaves encoded in a name, and would look for as such. A URL's path may have them. */
const ENCODED = /%(?:2f|3a|40|24|26|2b|2c|3b|3d)/gi;

const LOGIN = /^(\w+:\/\/)(?:[^/?#]*@)?/;
const LOGIN_PARAMETERS = /([?&])(?:(?:user|password)=[^&]*(?:&|$))+/g;
const withoutLogin = (url: string): string => url.replace(LOGIN, "$1").replaceAll(LOGIN_PARAMETERS, "$1");

/** One for each server. */
const urlsOf = (url: string): string[] => serverUrls(url).map(withPlainName);

/** Parts of a path that lead elsewhere: the driver would connect to another database. */
const DOTS = /\/(?:\.|%2e){1,2}\//i;

const withPlainName = (url: string): string =>
	url.replace(NAME, (encoded: string, start: string, name: string) => {
		const plain = name.replace(ENCODED, decodeURIComponent);
		return DOTS.test(`/${plain}/`) ? encoded : start + plain;
	});

/** Which server and database a URL of one server leads to, for people: `host:5432/name`, without the user. */
export function placeOf(url: string): string {
	const { host, port, database } = new Client(plainConfig(url));
	return `${host.includes(":") ? `[${host}]` : host}:${port}/${database}`;
}

/** Rejects if the connection is read-only. */
export async function checkWritable(client: ClientBase): Promise<void> {
	const { rows } = await client.query<{ transaction_read_only: string }>("SHOW transaction_read_only");
	if (rows[0]!.transaction_read_only === "on")
		throw new StorageError("lost", "PostgreSQL is read-only: it is a standby, or configured to be.");
}

/** Whether another server may succeed. One that refuses this user or database isn't a reason to try the next. */
function isServersFault(error: unknown): boolean {
	const failure = isPoolBusy(error) ? null : storageError(error);
	return failure instanceof StorageError && failure.code === "lost";
}

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
