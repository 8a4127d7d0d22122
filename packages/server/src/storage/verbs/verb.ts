/**
 * Cold verbs: what users and programs configure, written once for both engines.
 *
 * A verb is a generator. It yields steps and receives their results; the rules are plain code in between. SQLite drives
 * it synchronously in its worker, PostgreSQL on one connection, where the statements of a step are pipelined. It may
 * run again from its beginning if its transaction conflicted with another one, so it must have no other effects.
 */
import type { LogEvent, NewEvent } from "../port/log.ts";
import type { ProjectRef } from "../port/registry.ts";
import type { AttemptKind, IdRange, WalkedAttempt } from "../shared/deliveries.ts";
import type { Query, Row } from "./sql.ts";

/**
 * What each engine does within a verb in its own way. Holding something keeps other transactions away from it until
 * this one ends.
 */
export interface Natives {
	/** The project's number in other tables; null if it doesn't exist. Engines cache it. */
	findProject(projectId: string): number | null;
	/** The webhook's number in other tables, even if it was deleted; null if the project never had it. */
	findWebhook(project: number, webhookId: string): number | null;
	lockAccounts(): void;
	/** Hints to other nodes that the project has changed, once the transaction is committed. */
	tellPeers(project: number): void;
	/** Starts the log and the lease of a new project. */
	openLog(projectId: string): void;
	/** Holds the project's log: only the holder appends to it. */
	holdLog(project: number): void;
	/** Holds all of the project: its log, lanes and queues don't change meanwhile. Returns the last `seq` of the log. */
	holdProject(project: number): number;
	/** The time on this node's clock. */
	now(): number;
	/** Records that the project changed, and sets its alarm. For a caller that holds all of it. */
	wake(project: number): void;
	/** Converts a time of this node's clock to the database's, on which other nodes wait for it. */
	toDatabaseTime(at: number): number;
	/** The opposite of `toDatabaseTime`. */
	toNodeTime(at: number): number;
	/**
	 * Appends the events of facts to the log, which is held, in order. Throws if one of the ids is taken. Returns for each
	 * fact its events as stored in the log.
	 */
	appendFacts(projectId: string, project: number, facts: readonly FactEvents[]): LogEvent[][];
	/** Matching attempts of the log in the order of their ids, `limit` at most. */
	walkAttempts(project: number, kind: AttemptKind, range: IdRange, limit: number): Walked;
	/** Ends the transaction together with the last statements: one round trip less. */
	commit(): void;
}

export interface Walked {
	readonly rows: readonly WalkedAttempt[];
	/** The stored id at which it stopped after reading enough rows; null otherwise. */
	readonly end: string | null;
}

/** The events of one fact, and when it is recorded. */
export interface FactEvents {
	readonly at: number;
	readonly events: readonly NewEvent[];
}

export type NativeCall<K extends keyof Natives = keyof Natives> = {
	[N in K]: {
		readonly call: readonly [name: N, ...args: Parameters<Natives[N]>];
		/** Never set; only carries the type. */
		readonly result?: ReturnType<Natives[N]>;
	};
}[K];

export type Part = Query<unknown> | NativeCall;

/** Statements and native calls that don't need each other's results. */
export type Step = readonly Part[];

export type Steps<R> = Generator<Step, R, unknown>;

type ResultsOf<P extends Step> = {
	-readonly [I in keyof P]: P[I] extends Query<infer R> ? R[] : P[I] extends { readonly result?: infer R } ? R : never;
};

/** Runs the parts in this order, without waiting for each other's results: rows of statements, results of native calls. */
export function* together<const P extends Step>(...parts: P): Steps<ResultsOf<P>> {
	return (yield parts) as ResultsOf<P>;
}

/** The rows of one statement: none for a change, unless it says RETURNING. */
export function* rows<R = Row>(query: Query<R>): Steps<R[]> {
	const [found] = yield* together(query);
	return found;
}

/** The first row, or undefined. */
export function* row<R = Row>(query: Query<R>): Steps<R | undefined> {
	const [found] = yield* rows(query);
	return found;
}

const native =
	<K extends keyof Natives>(name: K) =>
	(...args: Parameters<Natives[K]>): NativeCall<K> =>
		({ call: [name, ...args] }) as unknown as NativeCall<K>;

export const openLog = native("openLog");
export const holdLog = native("holdLog");
export const holdProject = native("holdProject");
export const wake = native("wake");
export const appendFacts = native("appendFacts");
export const walkAttempts = native("walkAttempts");
export const commit = native("commit");

/** The same as a step of its own. */
const alone = <K extends keyof Natives>(name: K) =>
	function* (...args: Parameters<Natives[K]>): Steps<ReturnType<Natives[K]>> {
		const [result] = (yield [native(name)(...args) as unknown as NativeCall]) as [ReturnType<Natives[K]>];
		return result;
	};

const findProject = alone("findProject");
export const findWebhook = alone("findWebhook");
export const lockAccounts = alone("lockAccounts");
export const toDatabaseTime = alone("toDatabaseTime");
export const toNodeTime = alone("toNodeTime");
export const now = alone("now");
export const tellPeers = alone("tellPeers");

export function runSync<R>(steps: Steps<R>, perform: (part: Part) => unknown): R {
	let turn = steps.next();
	while (!turn.done) turn = steps.next(turn.value.map(perform));
	return turn.value;
}

export async function runAsync<R>(steps: Steps<R>, perform: (part: Part) => Promise<unknown>): Promise<R> {
	let turn = steps.next();
	while (!turn.done) turn = steps.next(await Promise.all(turn.value.map(perform)));
	return turn.value;
}

/**
 * How a verb runs. SQLite runs reads on one state and writes in one transaction, in every mode. On PostgreSQL:
 *
 * - `read`: each statement sees the newest state
 * - `snapshot`: all statements see one state
 * - `write`: one transaction
 * - `writeInProject`: the same, in turn with other writes of the project `projectId` (see postgres/project-writes.ts)
 */
export type Mode = "read" | "snapshot" | "write" | "writeInProject";

type Params = readonly [] | readonly [object];

export interface Verb<P extends Params = never, R = unknown> {
	readonly mode: Mode;
	readonly steps: (...p: P) => Steps<R>;
	/** The event types that it uses, which may be new: they get their codes before it runs. */
	readonly typesOf?: ((...p: P) => readonly string[]) | undefined;
}

const as =
	(mode: Mode) =>
	<P extends Params, R>(steps: (...p: P) => Steps<R>): Verb<P, R> => ({ mode, steps });

export const read = as("read");
export const write = as("write");

type ProjectMaker = <P extends object, R>(
	steps: (project: number, p: ProjectRef & P) => Steps<R>,
	otherwise: (p: NoInfer<P>) => NoInfer<R>,
	typesOf?: (p: ProjectRef & NoInfer<P>) => readonly string[],
) => Verb<readonly [ProjectRef & P], R>;
const asOfProject =
	(mode: Mode): ProjectMaker =>
	(steps, otherwise, typesOf) => ({
		mode,
		*steps(p) {
			const project = yield* findProject(p.projectId);
			return project === null ? otherwise(p) : yield* steps(project, p);
		},
		typesOf,
	});

/**
 * Verbs of the project `projectId`, whose functions get its number. `otherwise`: what they return if it doesn't exist.
 * `writeOutOfTurn` is a `write`, for short changes of rows that other writes of the project don't use.
 */
export const inProject = {
	read: asOfProject("read"),
	snapshot: asOfProject("snapshot"),
	write: asOfProject("writeInProject"),
	writeOutOfTurn: asOfProject("write"),
};

/** A table's verbs as methods of a storage. */
export type Methods<Table> = {
	[K in keyof Table]: Table[K] extends Verb<infer P, infer R> ? (...p: P) => Promise<R> : never;
};
