/**
 * Cold verbs: what people and programs set up, written once for both engines.
 *
 * A verb is a generator. It yields steps and is given their results; the rules are plain code in between. SQLite drives
 * it synchronously in its worker, PostgreSQL on one connection, where the statements of a step are pipelined. It may run
 * again from its beginning when its transaction met another one, so it must have no other effects.
 */
import type { Query, Row } from "./sql.ts";

/** What an engine does within a verb in its own way. */
export interface Natives {
	/** The project's number in other tables; null if it doesn't exist. Engines remember it. */
	findProject(projectId: string): number | null;
	/** Keeps other transactions that call it waiting until this one ends. */
	lockAccounts(): void;
	/** Hints to other nodes that the project has changed, once the transaction is committed. */
	tellPeers(project: number): void;
}

export type NativeCall = { [K in keyof Natives]: readonly [name: K, ...args: Parameters<Natives[K]>] }[keyof Natives];

/** Statements that don't depend on each other, or one native call. */
export type Step = { readonly queries: readonly Query[] } | { readonly call: NativeCall };

export type Steps<R> = Generator<Step, R, unknown>;

type RowsOf<Q extends readonly Query<unknown>[]> = {
	-readonly [I in keyof Q]: Q[I] extends Query<infer R> ? R[] : never;
};

/** Runs statements in this order, without waiting for each other's rows. */
export function* together<const Q extends readonly Query<unknown>[]>(...queries: Q): Steps<RowsOf<Q>> {
	return (yield { queries: queries as unknown as readonly Query[] }) as RowsOf<Q>;
}

/** The rows of one statement: of a change none, unless it says RETURNING. */
export function* rows<R = Row>(query: Query<R>): Steps<R[]> {
	const [found] = yield* together(query);
	return found;
}

/** The first row, or undefined. */
export function* row<R = Row>(query: Query<R>): Steps<R | undefined> {
	const [found] = yield* rows(query);
	return found;
}

function* native<K extends keyof Natives>(
	...call: readonly [K, ...Parameters<Natives[K]>]
): Steps<ReturnType<Natives[K]>> {
	return (yield { call: call as unknown as NativeCall }) as ReturnType<Natives[K]>;
}

export const findProject = (projectId: string): Steps<number | null> => native("findProject", projectId);
export const lockAccounts = (): Steps<void> => native("lockAccounts");
export const tellPeers = (project: number): Steps<void> => native("tellPeers", project);

export function runSync<R>(steps: Steps<R>, perform: (step: Step) => unknown): R {
	let turn = steps.next();
	while (!turn.done) turn = steps.next(perform(turn.value));
	return turn.value;
}

export async function runAsync<R>(steps: Steps<R>, perform: (step: Step) => Promise<unknown>): Promise<R> {
	let turn = steps.next();
	while (!turn.done) turn = steps.next(await perform(turn.value));
	return turn.value;
}

/**
 * How a verb runs. SQLite serves reads from one state and writes in one transaction, whatever the mode. On PostgreSQL:
 *
 * - `read`: each statement sees the newest state
 * - `snapshot`: all statements see one state
 * - `write`: one transaction
 * - `writeInProject`: the same, in turn with other writes of the project `projectId` (see postgres/project-writes.ts)
 */
export type Mode = "read" | "snapshot" | "write" | "writeInProject";

type NoParams = readonly [];
type Params = NoParams | readonly [object];

export interface Verb<P extends Params = never, R = unknown> {
	readonly mode: Mode;
	readonly steps: (...p: P) => Steps<R>;
}

type Maker<Each extends Params> = <P extends Each, R>(steps: (...p: P) => Steps<R>) => Verb<P, R>;
const as =
	<Each extends Params>(mode: Mode): Maker<Each> =>
	(steps) => ({ mode, steps });

export const read = as<Params>("read");
export const snapshot = as<Params>("snapshot");
export const write = as<Params>("write");
export const writeInProject = as<readonly [{ readonly projectId: string }]>("writeInProject");

/** The verbs of a table as methods of a storage. */
export type Methods<Table> = {
	[K in keyof Table]: Table[K] extends Verb<infer P, infer R> ? (...p: P) => Promise<R> : never;
};

/** Makes a method of each verb. */
export function bind<Table extends Readonly<Record<string, Verb>>>(
	table: Table,
	run: (name: string, verb: Verb<readonly [Row]>, p: Row) => Promise<unknown>,
): Methods<Table> {
	const methods = Object.entries(table).map(([name, verb]) => [
		name,
		(p: Row = {}) => run(name, verb as Verb<readonly [Row]>, p),
	]);
	return Object.fromEntries(methods) as Methods<Table>;
}
