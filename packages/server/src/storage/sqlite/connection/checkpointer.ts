import type { DatabaseSync } from "node:sqlite";

/**
 * Pages of the log worth moving (8 MB). Moving fewer at a time writes the same pages again and again; moving more keeps
 * the disk busy for longer, and commits wait for it.
 */
export const PAGES = 1_000;
/** How often to check, milliseconds. */
const EVERY_MS = 50;
/** Delay before a retry after an error, such as a full disk, milliseconds. */
const REST_MS = 5_000;

interface WalState {
	readonly busy: number;
	readonly log: number;
	readonly checkpointed: number;
}

/**
 * Checkpoints the write-ahead log alongside the writer. The writer checkpoints the rest in the commit that reaches
 * the log's limit; without this, that commit would checkpoint all of it, while everyone waits.
 *
 * @returns stops it
 */
export function checkpointBeside(db: DatabaseSync): () => void {
	// SQLite before 3.51 treats NOOP as PASSIVE and would move pages at each check. The Node that comes with this project
	// has a later one.
	const state = db.prepare("PRAGMA wal_checkpoint(NOOP)");
	const look = (): void => {
		let waitMs = EVERY_MS;
		try {
			const { log, checkpointed } = state.get() as unknown as WalState;
			if (log - checkpointed >= PAGES) db.exec("PRAGMA wal_checkpoint(PASSIVE)");
		} catch {
			// Nothing depends on it: the writer gets the same error with its next commit or checkpoint, and reports it.
			waitMs = REST_MS;
		}
		timer = setTimeout(look, waitMs);
	};
	let timer = setTimeout(look, EVERY_MS);
	return () => clearTimeout(timer);
}
