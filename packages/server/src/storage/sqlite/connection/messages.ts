/**
 * Messages between threads. They are arrays: copying an object copies the names of its members too, which took longer
 * than copying their values.
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

/** Answers come by the batch. The first message says whether the database could be opened. */
export type FromWorker =
	| readonly [kind: "opened"]
	| readonly [kind: "not_opened", error: ErrorNote]
	| readonly [kind: "replies", replies: readonly Reply[]];

/** Ends a worker, after everything that was asked before. */
export const CLOSE = "close";
