/**
 * How far the database's clock is ahead of a node's. Nodes' clocks may differ, and what one node stores for a time to come
 * another may have to wait for: such times are stored as the database's clock will show them.
 */

/**
 * Clocks that differ by less are taken for one, milliseconds: a measurement is no more exact than the way to the database
 * is short, and times are to come back just as they were stored.
 */
const TOLERANCE_MS = 500;

export class ClockOffset {
	#ms = 0;

	/** The database's clock showed `database` at some moment between `asked` and `answered` on this node's. */
	measured(database: number, asked: number, answered: number): void {
		const [least, most] = [database - answered, database - asked];
		if (this.#ms < least - TOLERANCE_MS || this.#ms > most + TOLERANCE_MS) this.#ms = Math.round((least + most) / 2);
	}

	/** A time of this node's, as the database will show it. */
	toDatabase(at: number): number {
		return at + this.#ms;
	}

	/** A time of the database's, as this node will show it. */
	toNode(at: number): number {
		return at - this.#ms;
	}
}
