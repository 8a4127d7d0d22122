/** A program that polls a project's log by the rules of the API: it keeps each page's position, and continues from there. */
import { Problem } from "../packages/server/src/api/http/problem.ts";
import { type LogPosition, readPage } from "../packages/server/src/api/routes/publishing/events.ts";
import type { Storage } from "../packages/server/src/storage/port.ts";
import type { ReadResult } from "./happenings.ts";

const PAGE = 10;

/** What a poll returned. */
export interface Polled {
	readonly read: ReadResult;
	/** In words. */
	readonly text: string;
	/** To continue from. */
	readonly position: LogPosition;
	readonly hasMore: boolean;
}

export async function poll(storage: Storage, projectId: string, position: LogPosition): Promise<Polled> {
	try {
		const { events, lastSeq, epoch, hasMore } = await readPage(storage, projectId, position, PAGE);
		const read = { events: events.map(({ id, seq }) => ({ id, seq })) };
		return { read, text: `${events.length} events`, position: { after: lastSeq, epoch }, hasMore };
	} catch (error) {
		if (!(error instanceof Problem) || error.kind !== "log-behind") throw error;
		const { continue_after: continueAfter, epoch } = error.toJSON() as { continue_after: number; epoch: string };
		return { read: { continueAfter }, text: error.message, position: { after: continueAfter, epoch }, hasMore: true };
	}
}
