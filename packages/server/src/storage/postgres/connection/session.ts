import { createHash } from "node:crypto";
import type { PoolClient, QueryResult } from "pg";
import { CACHED_NAMES } from "../../../base/budgets.ts";
import { BoundedMap } from "../../../base/collections.ts";
import { StorageError } from "../../port.ts";
import { ClockOffset, storedGeneration, toGeneration } from "../../shared/leases.ts";

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

/** Cached numbers of names, and names of numbers. Within an epoch, a number never changes its name. */
export class NameCache {
	readonly projects = new BoundedMap<string, number>(CACHED_NAMES);
	/** The ids of the projects above. */
	readonly projectIds = new BoundedMap<number, string>(CACHED_NAMES);
	readonly webhooks = new BoundedMap<string, { readonly no: number; readonly projectNo: number }>(CACHED_NAMES);
	readonly webhookIds = new BoundedMap<number, string>(CACHED_NAMES);
	readonly types = new BoundedMap<string, number>(CACHED_NAMES);
	readonly typeNames = new BoundedMap<number, string>(CACHED_NAMES);
	/** Whether the server {@link readsListsInOrder}; null if not known yet. */
	readsListsInOrder: boolean | null = null;
}

const IN_ORDER = sql("SELECT current_setting('server_version_num')::integer >= 170000 AS in_order");

/**
 * Whether one scan finds the rows of a list of values (`= ANY`) in the order of the index. Before version 17, a scan in
 * that order reads everything else, too, and PostgreSQL chooses it if it expects few rows.
 */
export async function readsListsInOrder(c: Session): Promise<boolean> {
	c.names.readsListsInOrder ??= (await c.row<{ in_order: boolean }>(IN_ORDER))!.in_order;
	return c.names.readsListsInOrder;
}

const FIND_PROJECT = sql("SELECT no FROM posthorn.projects WHERE id = $1");

/** The project's number, or null if it doesn't exist. */
export async function findProject(c: Session, projectId: string): Promise<number | null> {
	const known = c.names.projects.get(projectId);
	if (known !== undefined) return known;
	const row = await c.row<{ no: number }>(FIND_PROJECT, projectId);
	if (row === undefined) return null;
	c.names.projects.set(projectId, row.no);
	c.names.projectIds.set(row.no, projectId);
	return row.no;
}

const FIND_WEBHOOK = sql(`
	SELECT w.no, w.project_no FROM posthorn.webhooks w WHERE w.project_no = $1 AND w.id = $2`);

/** The number of a webhook of this project, deleted or not; null if it doesn't exist. */
export async function findWebhook(c: Session, projectNo: number, webhookId: string): Promise<number | null> {
	const known = c.names.webhooks.get(webhookId);
	if (known !== undefined) return known.projectNo === projectNo ? known.no : null;
	const row = await c.row<{ no: number }>(FIND_WEBHOOK, projectNo, webhookId);
	if (row === undefined) return null;
	c.names.webhooks.set(webhookId, { no: row.no, projectNo });
	return row.no;
}

const FIND = sql("SELECT code, name FROM posthorn.event_types WHERE name = ANY ($1::text[])");
const ADD = sql("INSERT INTO posthorn.event_types (name) SELECT unnest($1::text[]) ON CONFLICT (name) DO NOTHING");

/** The code of an event type that {@link internTypes} has looked up before. */
export function typeCode(names: NameCache, name: string): number {
	const code = names.types.get(name);
	if (code === undefined) throw new Error(`Event type ${name} was used before it was given a code.`);
	return code;
}

/** The codes of these event types, without those never used. */
export async function findTypes(c: Session, names: Iterable<string>): Promise<number[]> {
	const wanted = [...new Set(names)];
	await lookUp(c, wanted);
	return wanted.map((name) => c.names.types.get(name)).filter((code) => code !== undefined);
}

/** Gives each of these event types a code. Don't call it in a transaction that might not commit. */
export async function internTypes(c: Session, names: Iterable<string>): Promise<void> {
	const wanted = [...new Set(names)];
	if (await lookUp(c, wanted)) return;
	// Nodes that add the same types concurrently use one order, so that they don't wait for each other.
	const unknown = wanted.filter((name) => !c.names.types.has(name)).sort();
	await c.run(ADD, textArray(unknown));
	if (!(await lookUp(c, wanted))) throw new Error("Event types were missing right after they were added.");
}

/** Whether all of them have a code. */
async function lookUp(c: Session, wanted: readonly string[]): Promise<boolean> {
	const unknown = wanted.filter((name) => !c.names.types.has(name));
	if (unknown.length === 0) return true;
	const rows = await c.rows<{ code: number; name: string }>(FIND, textArray(unknown));
	for (const { code, name } of rows) c.names.types.set(name, code);
	return rows.length === unknown.length;
}

const WEBHOOK_IDS = sql(
	"SELECT no, id AS name FROM posthorn.webhooks WHERE project_no = $1 AND no = ANY ($2::bigint[])",
);
const TYPE_NAMES = sql("SELECT code AS no, name FROM posthorn.event_types WHERE code = ANY ($1::integer[])");

/** The webhook and the event type of a row that has their numbers, `webhook_no` and `type`. */
export type Names = (row: Row) => { readonly webhookId: string; readonly eventType: string };

/**
 * Looks up the {@link Names} of these rows of a project, unless they are cached. Returns them with the rows, except those
 * of webhooks that have been deleted since the rows were read: retention deletes a webhook along with its last attempts.
 */
export async function named<R extends Row>(
	c: Session,
	projectNo: number,
	rows: readonly R[],
): Promise<{ readonly rows: R[]; readonly names: Names }> {
	const find = async (cache: Map<number, string>, column: string, statement: Statement, ...of: readonly number[]) => {
		const numbers = new Set(rows.map((row) => row[column] as number));
		const names = new Map([...numbers].map((no) => [no, cache.get(no)]));
		const unknown = [...numbers].filter((no) => names.get(no) === undefined);
		if (unknown.length === 0) return names;
		for (const { no, name } of await c.rows<{ no: number; name: string }>(statement, ...of, numberArray(unknown))) {
			cache.set(no, name);
			names.set(no, name);
		}
		return names;
	};
	const [webhookIds, types] = await Promise.all([
		find(c.names.webhookIds, "webhook_no", WEBHOOK_IDS, projectNo),
		find(c.names.typeNames, "type", TYPE_NAMES),
	]);
	const nameIn = (names: Map<number, string | undefined>, no: unknown): string => {
		const name = names.get(no as number);
		if (name === undefined) throw new Error(`The delivery log refers to number ${no}, which has no name.`);
		return name;
	};
	return {
		rows: rows.filter((row) => webhookIds.get(row.webhook_no as number) !== undefined),
		names: (row) => ({ webhookId: nameIn(webhookIds, row.webhook_no), eventType: nameIn(types, row.type) }),
	};
}
