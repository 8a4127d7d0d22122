/**
 * The servers in a database URL. One of them takes writes at a time; the others follow it until one is promoted.
 * Connections go to the last server used. If it can't be reached or is read-only, the others are tried in turn.
 */
import type { ClientBase } from "pg";
import { serverUrls } from "../../../base/text.ts";
import { StorageError } from "../../port.ts";
import { isPoolBusy, storageError } from "./errors.ts";

/** Values of libpq's `target_session_attrs` that skip read-only servers. */
const WRITABLE: readonly (string | null)[] = ["read-write", "primary"];

export class Hosts {
	readonly #urls: readonly string[];
	readonly #mustWrite: boolean;
	#at = 0;

	constructor(url: string) {
		this.#urls = serverUrls(url);
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

	/** Rejects if the connection is read-only and must not be. */
	async check(client: ClientBase): Promise<void> {
		if (this.#mustWrite) await checkWritable(client);
	}
}

/** Rejects if the connection is read-only. */
export async function checkWritable(client: ClientBase): Promise<void> {
	const { rows } = await client.query<{ transaction_read_only: string }>("SHOW transaction_read_only");
	if (rows[0]!.transaction_read_only === "on")
		throw new StorageError("lost", "PostgreSQL is read-only: it is a standby, or configured to be.");
}

/** Whether another server may succeed. One that refuses this user or database isn't a reason to try the next. */
function isServersFault(error: unknown): boolean {
	const told = isPoolBusy(error) ? null : storageError(error);
	return told instanceof StorageError && told.code === "lost";
}
