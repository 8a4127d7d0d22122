/** Reading the log page by page, across epochs of the database. */
import { RESPONSES } from "../../../base/budgets.ts";
import type { LogEvent, Storage } from "../../../storage/port.ts";
import { found, Problem } from "../../http/problem.ts";

/** How far a reader has read the log, and in which of its epochs, if the reader knows. */
export interface LogPosition {
	readonly after: number;
	readonly epoch: string | undefined;
}

export interface LogPage {
	readonly events: readonly LogEvent[];
	/** The position after this page. */
	readonly lastSeq: number;
	readonly epoch: string;
	readonly hasMore: boolean;
}

type LogStorage = Pick<Storage, "epoch" | "readLog" | "readLogEnd">;

/** Throws 409 if the log no longer holds what was read up to this position, and 404 if there is no such project. */
export async function checkPosition(
	storage: LogStorage,
	projectId: string,
	{ after, epoch }: LogPosition,
): Promise<void> {
	const { lastSeq, kept } = found("project", await storage.readLogEnd({ projectId, since: epoch }));
	const continueAfter = Math.min(lastSeq, kept ?? lastSeq);
	if (after <= continueAfter) return;
	const why =
		after > lastSeq
			? `The log ends at ${lastSeq}, before ${after}`
			: `Events after ${continueAfter} were lost since epoch ${epoch}, and their numbers now belong to others`;
	throw new Problem("log-behind", `${why}. Continue with after=${continueAfter} and the epoch given here.`, {
		members: { last_seq: lastSeq, continue_after: continueAfter, epoch: storage.epoch },
	});
}

/** The next page, of at most `limit` events. Throws like {@link checkPosition}. */
export async function readPage(
	storage: LogStorage,
	projectId: string,
	position: LogPosition,
	limit: number,
	types?: readonly string[],
): Promise<LogPage> {
	const { after } = position;
	for (;;) {
		const { epoch } = storage;
		const window = { maxEvents: limit + 1, maxBytes: RESPONSES.pageBytes };
		const rows = await storage.readLog({ projectId, after, window, types });
		if (rows.length === 0 || (position.epoch !== undefined && position.epoch !== epoch))
			await checkPosition(storage, projectId, position);
		const events = rows.slice(0, limit);
		const lastSeq = events.at(-1)?.seq ?? after;
		let hasMore = rows.length > limit;
		if (!hasMore && events.length > 0) {
			// Whether the page or the log ended is unknown, so check.
			const next = { after: lastSeq, window: { maxEvents: 1, maxBytes: 1 }, types };
			hasMore = (await storage.readLog({ projectId, ...next })).length > 0;
		}
		// A read during an epoch change may have returned events of either epoch.
		if (storage.epoch === epoch) return { events, lastSeq, epoch, hasMore };
	}
}
