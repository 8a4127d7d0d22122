import type { DatabaseSync } from "node:sqlite";
import { pageBytes } from "./connection.ts";

/** Bytes of the log worth moving, since moving fewer at a time writes the same pages again and again, … */
export const LOG_BYTES = 28_672_000;
/**
 * … or bytes by which the file has grown since: these are new, so waiting saves nothing, and the more of them are moved at
 * once, the longer commits wait for the disk.
 */
export const NEW_BYTES = 8_192_000;
/** Bytes that can't be moved from which on this warns: several times the log's limit. */
export const HELD_BYTES = 256_000_000;
/** How often to check, milliseconds. */
const EVERY_MS = 50;
/** Delay before a retry after an error, such as a full disk, milliseconds. */
const REST_MS = 5_000;

interface WalState {
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
	const size = db.prepare("SELECT page_count AS pages FROM pragma_page_count");
	const bytes = pageBytes(db);
	let movedSize = 0;
	let isHeld = false;
	const look = (): void => {
		let waitMs = EVERY_MS;
		try {
			const { log, checkpointed } = state.get() as unknown as WalState;
			const { pages } = size.get() as { pages: number };
			const left = (log - checkpointed) * bytes;
			const isMuch = left >= LOG_BYTES;
			if (left >= HELD_BYTES && !isHeld) process.emitWarning(heldWarning(left));
			isHeld = left >= HELD_BYTES;
			if (isMuch || (log > checkpointed && (pages - movedSize) * bytes >= NEW_BYTES)) {
				db.exec("PRAGMA wal_checkpoint(PASSIVE)");
				movedSize = pages;
			}
		} catch {
			// Nothing depends on it: the writer gets the same error with its next commit or checkpoint, and reports it.
			waitMs = REST_MS;
		}
		timer = setTimeout(look, waitMs);
	};
	let timer = setTimeout(look, EVERY_MS);
	return () => clearTimeout(timer);
}

const heldWarning = (bytes: number): string =>
	`The write-ahead log has grown to ${Math.round(bytes / 1e6)} MB, and takes more of the disk with each write: another program has been reading the database for long. The log shrinks again once that program ends its transaction.`;
