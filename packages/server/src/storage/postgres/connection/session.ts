import { createHash } from "node:crypto";
import type { PoolClient, QueryResult } from "pg";
import { StorageError } from "../../port.ts";
import { ClockOffset, storedGeneration, toGeneration } from "../../shared/leases.ts";
import type { NameCache } from "./names.ts";

/** A row as the driver returns it: bigint and integer as number, bytea as Buffer, json parsed. */
export type Row = Record<string, unknown>;

/** A warning of the database, as the driver passes it on. */
interface Warning {
	readonly routine: string | undefined;
	readonly message: string | undefined;
}

/**
 * The routine of PostgreSQL in which a commit waits for synchronous standbys. If an administrator cancels the wait
 * (`pg_cancel_backend`), the commit succeeds with a warning, although a failover may lose it.
 */
const WAITS_FOR_STANDBY = "SyncRepWaitForLSN";

const unconfirmed = (message: string): string =>
	`A commit may be lost in a failover, because no synchronous standby has confirmed it (${message}): retrying.`;

/**
 * A connection, for the duration of one operation. Statements may be sent without waiting for earlier ones: the
 * database runs them in the order in which they were sent.
 */
export class Session {
	readonly names: NameCache;
	/** The offset between this node's clock and the database's. */
	readonly offset: ClockOffset;
	/** By project, the end of its log if it was read or written. Valid once the transaction is committed. */
	readonly ends = new Map<number, number>();
	/** Projects that the transaction changes: other nodes get a hint once it's committed. */
	readonly changed = new Set<number>();
	/** Those of them that it leaves without a holder, though they have work. */
	readonly unowned = new Set<number>();
	readonly #client: PoolClient;
	/** This epoch's number among those that this node has been in, from 0. */
	readonly #epoch: number;
	#committed: Promise<void> | null = null;
	#failure: unknown = null;

	constructor(client: PoolClient, names: NameCache, offset = new ClockOffset(), epoch = 0) {
		this.#client = client;
		this.names = names;
		this.offset = offset;
		this.#epoch = epoch;
	}

	/** A lease's generation as the engine sees it: including its epoch. */
	toGeneration(stored: number): number {
		return toGeneration(this.#epoch, stored);
	}

	/** A lease's generation as stored in this database; for a lease of another epoch, one that is never stored. */
	storedGeneration(generation: number): number {
		return storedGeneration(this.#epoch, generation);
	}

	/** A statement's rows. Their type isn't checked. */
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

	/** Runs a command that has no values and isn't worth preparing. */
	async command(text: string): Promise<void> {
		await this.#client.query(text);
	}

	/**
	 * Sends the commit right after the last statement, without waiting for it. Callers also wait for their earlier
	 * statements; the transaction itself waits for the commit. Rejects like the first statement that failed, whichever
	 * rejection arrives first.
	 */
	commit(): Promise<void> {
		this.#committed ??= this.#commit();
		return this.#committed;
	}

	async #commit(): Promise<void> {
		let canceled: string | null = null;
		const noticed = ({ routine, message }: Warning): void => {
			if (routine === WAITS_FOR_STANDBY) canceled = message ?? "";
		};
		this.#client.on("notice", noticed);
		try {
			const { command } = await this.#client.query("COMMIT");
			if (command !== "COMMIT")
				throw this.#failure ?? new Error("A transaction was rolled back even though nothing failed.");
		} finally {
			this.#client.off("notice", noticed);
		}
		if (canceled !== null) throw new StorageError("lost", unconfirmed(canceled));
	}

	/** The error of the first statement that failed, or null. */
	get failure(): unknown {
		return this.#failure;
	}

	async #send({ name, text, parameters }: Statement, values: readonly unknown[]): Promise<QueryResult<Row>> {
		const inOrder = parameters === null ? values : valuesOf(parameters, values[0] as NamedValues);
		const sent = inOrder.map((value) => (typeof value === "string" ? withoutNul(value) : value));
		try {
			return await this.#client.query<Row>({ name, text, values: sent });
		} catch (error) {
			this.#failure ??= error;
			throw error;
		}
	}
}

/** A statement that a connection prepares on first use and then runs by name. */
export interface Statement {
	readonly name: string;
	readonly text: string;
	/** The names of its parameters, in order; null if they only have numbers. */
	readonly parameters: readonly string[] | null;
}

/** The values of a statement's parameters. It may have others that the statement doesn't use. */
export type NamedValues = Readonly<Record<string, unknown>>;

/**
 * The statement's name is derived from the text, so equal texts are one statement. Parameters have numbers or names:
 *
 * c.rows(sql("… WHERE project_no = $1 AND seq > $2"), project, after)
 * c.rows(sql("… WHERE project_no = $project AND seq > $after"), { project, after })
 */
export function sql(text: string): Statement {
	const names = [...new Set(text.matchAll(PARAMETER).map(([, name]) => name!))];
	const numbered = text.replaceAll(PARAMETER, (_, name: string) => `$${names.indexOf(name) + 1}`);
	const digest = createHash("sha256").update(numbered).digest("hex");
	return { name: `posthorn_${digest.slice(0, 24)}`, text: numbered, parameters: names.length === 0 ? null : names };
}

/**
 * A statement that locks rows, by whether it waits for those that other sessions have locked, or skips them.
 *
 * @param textFor puts the mode after its FOR UPDATE
 */
export function lockingSql(textFor: (mode: string) => string): (waits: boolean) => Statement {
	const [waiting, skipping] = [sql(textFor("")), sql(textFor("SKIP LOCKED"))];
	return (waits) => (waits ? waiting : skipping);
}

const PARAMETER = /\$([a-z]\w*)/g;

function valuesOf(parameters: readonly string[], values: NamedValues): unknown[] {
	return parameters.map((name) => {
		const value = values[name];
		// The driver would send it as NULL.
		if (value === undefined) throw new Error(`A statement's parameter ${name} has no value.`);
		return value;
	});
}

/**
 * Array literals in PostgreSQL's format: one parameter per column of a batch. Numbers and ids need no escaping, so this
 * is several times faster than the driver.
 */
export function numberArray(values: readonly (number | null)[]): string {
	// Inside the brackets, JSON writes integers and null like an array literal.
	return `{${JSON.stringify(values).slice(1, -1)}}`;
}

/** The columns of a batch: an array for each of these members. */
export function numberColumns<K extends string>(
	rows: readonly { readonly [N in K]: number | null }[],
	...names: readonly K[]
): string[] {
	return names.map((name) => numberArray(rows.map((row) => row[name])));
}

/** For ids that this service generated: letters and digits, which need no escaping. */
export function idArray(ids: readonly string[]): string {
	return `{${ids.join(",")}}`;
}

export function textArray(values: readonly (string | null)[]): string {
	return `{${values.map((value) => (value === null ? "NULL" : `"${value.replaceAll(SPECIAL, "\\$&")}"`)).join(",")}}`;
}

const SPECIAL = /["\\]/g;

/** PostgreSQL's text accepts every character except NUL, which texts from outside may contain. */
const withoutNul = (text: string): string => text.replaceAll("\0", "\ufffd");

/** Many byte strings in one parameter, with the start (from 0) and length of each. */
interface Packed {
	readonly bytes: Buffer;
	readonly starts: readonly number[];
	readonly lengths: readonly number[];
}

export function pack(parts: readonly Uint8Array[]): Packed {
	const lengths = parts.map((part) => part.length);
	let end = 0;
	const starts = lengths.map((length) => {
		end += length;
		return end - length;
	});
	return { bytes: Buffer.concat(parts, end), starts, lengths };
}
