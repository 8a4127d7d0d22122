/**
 * Messages between threads. They are arrays: copying an object also copies its members' names, which took longer than
 * copying the values.
 */
import type { ErrorNote } from "./errors.ts";

/** What a worker is started with. */
export interface WorkerSetup {
	readonly path: string;
	readonly leaseTermMs: number;
	readonly role: "writer" | "reader" | "checkpointer";
}

/** A call to a worker. `now` is the node's time. */
export type Request = readonly [id: number, operation: string, p: unknown, now: number];

export type Reply =
	| readonly [id: number, ok: true, value: unknown]
	| readonly [id: number, ok: false, error: ErrorNote];

/** Results come in batches. The first message says whether the database could be opened. */
export type FromWorker =
	| readonly [kind: "opened"]
	| readonly [kind: "not_opened", error: ErrorNote]
	| readonly [kind: "replies", replies: readonly Reply[]];

/** Ends a worker, after all earlier calls. */
export const CLOSE = "close";
