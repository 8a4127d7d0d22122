import type { DatabaseSync } from "node:sqlite";

/** Pages of the log that are worth moving (8 MB), and how often that is looked at, milliseconds. */
const PAGES = 1_000;
const EVERY_MS = 50;

interface WalState {
	readonly busy: number;
	readonly log: number;
	readonly checkpointed: number;
}

/**
 * Moves pages from the write-ahead log into the database beside the writer. The writer moves what is left when the log has
 * grown to its limit, in the commit that reaches it: without this, everyone would wait for all of it then.
 *
 * @returns what ends it
 */
export function checkpointBeside(db: DatabaseSync): () => void {
	const state = db.prepare("PRAGMA wal_checkpoint(NOOP)");
	const timer = setInterval(() => {
		const { log, checkpointed } = state.get() as unknown as WalState;
		// A checkpoint of the writer under way, or a backup, is in the way: next time. A full disk is the writer's to tell.
		if (log - checkpointed >= PAGES) db.exec("PRAGMA wal_checkpoint(PASSIVE)");
	}, EVERY_MS);
	return () => clearInterval(timer);
}
