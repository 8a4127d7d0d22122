import type { ErrorNote } from "./errors.ts";

/** What a worker is started with. */
export interface WorkerSetup {
	readonly path: string;
	readonly role: "writer" | "reader";
}

/** A call, as it travels to a worker. */
export interface Request {
	readonly id: number;
	readonly operation: string;
	readonly args: readonly unknown[];
}

export type Reply =
	| { readonly id: number; readonly ok: true; readonly value: unknown }
	| { readonly id: number; readonly ok: false; readonly error: ErrorNote };

/** Answers come by the batch. The first message says whether the database could be opened. */
export type FromWorker =
	| { readonly kind: "opened" }
	| { readonly kind: "not_opened"; readonly error: ErrorNote }
	| { readonly kind: "replies"; readonly replies: readonly Reply[] };

/** Ends a worker, after everything that was asked before. */
export const CLOSE = "close";
