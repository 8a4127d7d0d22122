/** Lease generations as the engine sees them: including their epoch, which this node counts from 0. */

/** More than the generations of a project's lease in one epoch. */
const GENERATIONS = 2 ** 36;
const NO_GENERATION = -1;

export const toGeneration = (epoch: number, stored: number): number => epoch * GENERATIONS + stored;

/** As stored in the database; for a lease of another epoch, a value that is never stored. */
export const storedGeneration = (epoch: number, generation: number): number =>
	Math.floor(generation / GENERATIONS) === epoch ? generation % GENERATIONS : NO_GENERATION;

/**
 * How far the database's clock is ahead of a node's. Nodes' clocks may differ, and a time that one node stores may be
 * awaited by another, so such times are stored as on the database's clock.
 */

/**
 * Clocks that differ by less count as equal, milliseconds: a measurement is only as precise as the round trip to the
 * database is short, and times should come back exactly as stored.
 */
const TOLERANCE_MS = 500;

export class ClockOffset {
	#ms = 0;

	/** The database's clock showed `database` at some moment between `asked` and `answered` on this node's. */
	measured(database: number, asked: number, answered: number): void {
		const [least, most] = [database - answered, database - asked];
		const isWithin = this.#ms >= least - TOLERANCE_MS && this.#ms <= most + TOLERANCE_MS;
		if (!isWithin) this.#ms = Math.round((least + most) / 2);
	}

	/** Milliseconds; negative if the database's clock is behind. */
	get aheadMs(): number {
		return this.#ms;
	}

	/** Converts a time of this node's clock to the database's. */
	toDatabase(at: number): number {
		return at + this.#ms;
	}

	/** Converts a time of the database's clock to this node's. */
	toNode(at: number): number {
		return at - this.#ms;
	}
}
