import type { DatabaseSync, StatementSync } from "node:sqlite";

/** Statements of the delivery log come in many shapes (filters, types); beyond this the oldest is dropped. */
const MAX_STATEMENTS = 300;

/** Prepares each statement once. */
export class Statements {
	readonly #db: DatabaseSync;
	readonly #statements = new Map<string, StatementSync>();

	constructor(db: DatabaseSync) {
		this.#db = db;
	}

	get(text: string): StatementSync {
		const known = this.#statements.get(text);
		if (known !== undefined) return known;
		const statement = this.#db.prepare(text);
		if (this.#statements.size >= MAX_STATEMENTS) {
			const [oldest] = this.#statements.keys();
			if (oldest !== undefined) this.#statements.delete(oldest);
		}
		this.#statements.set(text, statement);
		return statement;
	}

	clear(): void {
		this.#statements.clear();
	}
}
