/** `posthorn logs tail`: attempts as they are logged, like `kubectl logs --follow`. */
import { setTimeout as sleep } from "node:timers/promises";
import { ApiError, ConnectionError } from "@posthorn/client";
import { listenForStop } from "../../stop-signals.ts";
import { connect } from "../connection.ts";
import { parseLimit } from "../limit.ts";
import { clean, warn } from "../output.ts";
import {
	type Attempt,
	type AttemptQuery,
	attempts,
	filterOf,
	type LogOptions,
	newest,
	PAGE,
	type Reading,
} from "./attempts.ts";
import { printer } from "./rows.ts";

/** How often to look for new attempts, milliseconds. */
const POLL_MS = 1_000;
/** Attempts are logged when they end, so one may appear after a later one; none takes this long. */
const OVERLAP_MS = 120_000;

/** The newest attempts, then each new one as it is logged, until Ctrl-C. */
export async function tailLogs(options: LogOptions): Promise<void> {
	const filter = filterOf(options);
	const wanted = parseLimit(options.limit ?? "10");
	const { client, project } = await connect(options);
	const signal = stopSignal();
	const reading = { client, project, signal };
	const log = new NewAttempts(reading, filter);
	const show = printer(reading, options.json === true);
	let hasBegun = false;
	let isAway = false;
	while (!signal.aborted) {
		try {
			const fresh = hasBegun ? await log.unseen() : await log.past(wanted);
			await show(fresh.toReversed());
			// Only now: if showing them failed, they are read again.
			log.remember(fresh);
			hasBegun = true;
			isAway = false;
		} catch (error) {
			if (signal.aborted) break;
			if (!isTemporary(error, hasBegun)) throw error;
			if (!isAway) warn(`${clean((error as Error).message)} Waiting for the service.`);
			isAway = true;
		}
		await sleep(POLL_MS, undefined, { signal }).catch(() => {});
	}
}

/** Aborts at the first signal to stop. The second one ends the process. */
function stopSignal(): AbortSignal {
	const stop = new AbortController();
	const signals = listenForStop();
	void signals.first.then(() => stop.abort());
	void signals.second.then(() => process.exit(130));
	return stop.signal;
}

/** The log's attempts as they come, newest first. Each is new until it is remembered. */
class NewAttempts {
	readonly #reading: Reading;
	readonly #filter: AttemptQuery;
	/** When those that may be read again began, by id. */
	readonly #seen = new Map<string, number>();
	/** When the newest attempt began; null if there is none. */
	#last: number | null = null;

	constructor(reading: Reading, filter: AttemptQuery) {
		this.#reading = reading;
		this.#filter = filter;
	}

	/** At most this many of the newest attempts. The others that {@link unseen} would return now are remembered. */
	async past(wanted: number): Promise<Attempt[]> {
		const [first] = await newest(this.#reading, this.#filter, 1);
		if (first === undefined) return [];
		this.#last = Date.parse(first.started_at);
		this.remember(await this.unseen());
		return newest(this.#reading, this.#filter, wanted);
	}

	/** Reads back until a page has nothing new. */
	async unseen(): Promise<Attempt[]> {
		const found: Attempt[] = [];
		const since = this.#last === null ? {} : { since: new Date(this.#last - OVERLAP_MS).toISOString() };
		let cursor: string | undefined;
		do {
			const page = await attempts(this.#reading, { ...this.#filter, ...since, limit: PAGE, ...(cursor && { cursor }) });
			const fresh = page.data.filter(({ id }) => !this.#seen.has(id));
			found.push(...fresh);
			cursor = fresh.length > 0 ? (page.next_cursor ?? undefined) : undefined;
		} while (cursor !== undefined);
		return found;
	}

	remember(attempts: readonly Attempt[]): void {
		for (const { id, started_at } of attempts) {
			const at = Date.parse(started_at);
			this.#seen.set(id, at);
			this.#last = Math.max(this.#last ?? at, at);
		}
		if (this.#last === null) return;
		for (const [id, at] of this.#seen) if (at < this.#last - OVERLAP_MS) this.#seen.delete(id);
	}
}

/** @param hasBegun whether the service has responded before: then a proxy's own response is temporary, too */
function isTemporary(error: unknown, hasBegun: boolean): boolean {
	if (error instanceof ConnectionError) return true;
	if (!(error instanceof ApiError)) return false;
	return error.status >= 500 || error.status === 429 || (hasBegun && error.code === "unknown");
}
