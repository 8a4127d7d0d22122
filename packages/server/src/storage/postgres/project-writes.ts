import { PROJECT_WRITES } from "../../base/budgets.ts";
import { FairQueue } from "../../base/fair-queue.ts";
import { StorageError } from "../port.ts";
import { isLocked } from "./errors.ts";

const BUSY = "Too many changes of this project wait for the database.";

/** The writes of a project that came before one of them met a lock. */
interface Round {
	locked: unknown;
	writes: number;
}

/**
 * Keeps the connections for people from those of one project, whose rows may be held for long by a transaction of its own:
 * writes of one project run one at a time, and all writes of projects leave connections for everything else. When one
 * meets a lock for longer than the session's lock_timeout, those that wait behind it are refused with it.
 */
export class ProjectWrites {
	readonly #queue = new FairQueue(PROJECT_WRITES);
	readonly #rounds = new Map<string, Round>();

	/** Rejects as `locked` when as many of the project wait as may. */
	async run<T>(projectId: string, write: () => Promise<T>): Promise<T> {
		const round = this.#rounds.get(projectId) ?? { locked: null, writes: 0 };
		const written = this.#queue.run(projectId, async () => {
			if (round.locked !== null) throw round.locked;
			try {
				return await write();
			} catch (error) {
				if (isLocked(error)) this.#end(projectId, round, error);
				throw error;
			}
		});
		if (written === null) throw new StorageError("locked", BUSY);
		this.#rounds.set(projectId, round);
		round.writes++;
		return written.finally(() => {
			if (--round.writes === 0) this.#end(projectId, round, round.locked);
		});
	}

	/** Those that come from now on are another round. */
	#end(projectId: string, round: Round, locked: unknown): void {
		round.locked = locked;
		if (this.#rounds.get(projectId) === round) this.#rounds.delete(projectId);
	}
}
