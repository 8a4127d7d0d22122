import type { PoolClient, QueryResult } from "pg";
import { ClockOffset } from "../../shared/clock-offset.ts";
import { storedGeneration, toGeneration } from "../../shared/generations.ts";
import { withoutNul } from "./literals.ts";
import type { NameCache } from "./names.ts";
import type { Statement } from "./sql.ts";

/** A row as the driver gives it: bigint and integer as number, bytea as Buffer, json parsed. */
export type Row = Record<string, unknown>;

/**
 * A connection for as long as one operation has it. Statements may be sent without waiting for the ones before: the
 * database runs them in the order in which they were sent.
 */
export class Session {
	readonly names: NameCache;
	/** Between this node's clock and the database's. */
	readonly offset: ClockOffset;
	/** By project how far its log goes, as far as this has been read or written: known to be so once it is committed. */
	readonly ends = new Map<number, number>();
	/** The projects that the transaction rings for: other nodes are told of them once it is committed. */
	readonly changed = new Set<number>();
	readonly #client: PoolClient;
	/** Among the epochs that this node has been in, from 0. */
	readonly #epoch: number;
	#committed: Promise<void> | null = null;
	#failure: unknown = null;

	constructor(client: PoolClient, names: NameCache, offset = new ClockOffset(), epoch = 0) {
		this.#client = client;
		this.names = names;
		this.offset = offset;
		this.#epoch = epoch;
	}

	/** A lease's generation for the engine: with the epoch that it was given in. */
	toGeneration(stored: number): number {
		return toGeneration(this.#epoch, stored);
	}

	/** A lease's generation as this database has it; of a lease of another epoch one that it never has. */
	storedGeneration(generation: number): number {
		return storedGeneration(this.#epoch, generation);
	}

	/** The rows that a statement answers with. Their type is taken on trust. */
	async rows<R extends Row = Row>(statement: Statement, ...values: readonly unknown[]): Promise<R[]> {
		return (await this.#send(statement, values)).rows as R[];
	}

	/** The first row, or undefined. */
	async row<R extends Row = Row>(statement: Statement, ...values: readonly unknown[]): Promise<R | undefined> {
		const rows = await this.rows<R>(statement, ...values);
		return rows[0];
	}

	/** How many rows a statement changed. */
	async run(statement: Statement, ...values: readonly unknown[]): Promise<number> {
		return (await this.#send(statement, values)).rowCount ?? 0;
	}

	/** Runs what takes no values and is not worth preparing. */
	async command(text: string): Promise<void> {
		await this.#client.query(text);
	}

	/**
	 * Ends the transaction right behind what was sent last, without waiting for it. Whoever calls it waits for what was
	 * sent before as well; the transaction itself waits for the commit. Rejects as the statement that failed, whichever of
	 * the two is heard of first.
	 */
	commit(): Promise<void> {
		this.#committed ??= this.#client.query("COMMIT").then(({ command }) => {
			if (command !== "COMMIT") throw this.#failure ?? new Error("A transaction was given up, though nothing failed.");
		});
		return this.#committed;
	}

	/** Whether the transaction's end was sent already. */
	get isCommitted(): boolean {
		return this.#committed !== null;
	}

	/** What the first statement that failed rejected with; null as long as none has. */
	get failure(): unknown {
		return this.#failure;
	}

	async #send({ name, text }: Statement, values: readonly unknown[]): Promise<QueryResult<Row>> {
		const sent = values.map((value) => (typeof value === "string" ? withoutNul(value) : value));
		try {
			return await this.#client.query<Row>({ name, text, values: sent });
		} catch (error) {
			this.#failure ??= error;
			throw error;
		}
	}
}
