/**
 * The verbs on SQLite: for each, the thread that runs it, its function, and how its parameters and result are packed if
 * copying them between threads would cost too much.
 *
 * The reader sees everything that has been committed and never waits for a commit. No read takes long, so the engine's
 * reads need no thread of their own.
 */
import type { SQLInputValue, StatementSync } from "node:sqlite";
import type { NativeVerbs, Params, Result } from "../port.ts";
import { type ColdStorage, VERBS } from "../verbs/index.ts";
import type { Query, Row } from "../verbs/sql.ts";
import { type Natives, runSync, type Verb as SharedVerb, type Steps } from "../verbs/verb.ts";
import type { Channel } from "./connection/channel.ts";
import type { Connection } from "./connection/connection.ts";
import {
	packAppends,
	packResults,
	packSettlements,
	unpackAppends,
	unpackEvents,
	unpackResults,
	unpackSettlements,
} from "./connection/wire.ts";
import {
	countAttempts,
	getAttempt,
	hasMoreAttempts,
	listAttemptSummaries,
	listAttempts,
	listFollowedAttempts,
	searchResponses,
	walkForward,
} from "./history/attempts.ts";
import { readHealth } from "./history/health.ts";
import { readStats } from "./history/stats.ts";
import * as lanes from "./lanes/lanes.ts";
import { settle } from "./lanes/settle.ts";
import * as leases from "./leases/leases.ts";
import { appendEvents, appendFacts } from "./log/append.ts";
import * as log from "./log/log.ts";
import { sweepAttempts, sweepEvents } from "./retention/retention.ts";

type Thread = "writer" | "reader";

/** Synchronous; in the writer it's part of a transaction, in the reader it sees one state of the database. */
type Run<P, R> = (c: Connection, p: P, time: leases.LeaseTime) => R;

interface Verb<P, R> {
	readonly thread: Thread;
	readonly pack: (p: P) => unknown;
	readonly run: Run<never, unknown>;
	readonly unpack?: ((result: never) => R) | undefined;
	/** Never set; only carries the type. */
	readonly result?: R;
}

const on =
	(thread: Thread) =>
	<P, R>(run: Run<P, R>): Verb<P, R> => ({ thread, pack: withOwnBytes, run });
const read = on("reader");
const write = on("writer");

const packed = <P, PP, PR, R>(
	thread: Thread,
	pack: (p: P) => PP,
	run: Run<PP, PR>,
	unpack?: (result: PR) => R,
): Verb<P, R> => ({ thread, pack, run, unpack });

type Native = { readonly [K in keyof NativeVerbs]: Verb<Params<K>, Result<K>> };

const NATIVE = {
	readLogEnd: read(log.readLogEnd),
	appendEvents: packed(
		"writer",
		({ requests }: Params<"appendEvents">) => packAppends(requests),
		(c, batch) => packResults(appendEvents(c, unpackAppends(batch))),
		unpackResults,
	),
	readLog: packed("reader", withOwnBytes<Params<"readLog">>, log.readLog, unpackEvents),
	readEvents: packed("reader", withOwnBytes<Params<"readEvents">>, log.readEvents, unpackEvents),

	readBacklogs: read(lanes.readBacklogs),

	acquireLeases: packed(
		"writer",
		({ holder, limit, projectIds }: Params<"acquireLeases">) => ({ holder, limit, projectIds }),
		leases.acquireLeases,
	),
	renewLeases: write(leases.renewLeases),
	releaseLease: write(leases.releaseLease),
	nextAlarm: read(leases.nextAlarm),
	loadLanes: read(lanes.loadLanes),
	readRetries: read(lanes.readRetries),
	settle: packed(
		"writer",
		({ settlements }: Params<"settle">) => packSettlements(settlements),
		(c, batch) => settle(c, unpackSettlements(batch)),
	),
	settleHandedOver: packed(
		"writer",
		({ handedOver, settlement }: Params<"settleHandedOver">) => [handedOver, packSettlements([settlement])] as const,
		(c, [handedOver, batch]) => leases.settleHandedOver(c, handedOver, unpackSettlements(batch)[0]!),
	),
	forgetHandedOver: write(leases.forgetHandedOver),

	listAttempts: read(listAttempts),
	getAttempt: read(getAttempt),
	listAttemptSummaries: read(listAttemptSummaries),
	listFollowedAttempts: read(listFollowedAttempts),
	countAttempts: read(countAttempts),
	hasMoreAttempts: read(hasMoreAttempts),
	searchResponses: read(searchResponses),
	readStats: read(readStats),
	readHealth: read(readHealth),
	listWaitingRetries: read(lanes.listWaitingRetries),
	sweepAttempts: write(sweepAttempts),
	sweepEvents: write(sweepEvents),
} satisfies Native;

/** What the storage itself needs from its threads. */
const OWN = {
	/** Writes a row, so that the disk is checked. */
	pingWriter: write((c) => {
		c.run("INSERT INTO settings (name, value) VALUES ('ping', '1') ON CONFLICT (name) DO UPDATE SET value = 1 - value");
	}),
	/** Only what is committed shows whether there is room. */
	makeLarger: write((c, bytes: number) => {
		const insert = "INSERT OR REPLACE INTO settings (name, value) VALUES ('room', hex(randomblob(?)))";
		c.run(insert, Math.ceil(bytes / 2));
	}),
	makeSmaller: write((c) => {
		c.run("DELETE FROM settings WHERE name = 'room'");
	}),
	pingReader: read((c) => {
		c.row("SELECT value FROM settings WHERE name = 'ping'");
	}),
	readGauges: read((c, after: number) => lanes.readGauges(c, after)),
};

/** Columns whose type SQLite lacks, by table. */
const json = (text: string | number | null): unknown => (text === null ? null : JSON.parse(text as string));
const CONVERTED: Readonly<Record<string, (value: string | number | null) => unknown>> = {
	"projects.developer": Boolean,
	"accounts.operator": Boolean,
	"sessions.by_link": Boolean,
	"audit.detail": json,
	"store_orders.events": json,
	"lanes.open": json,
	"store_refunds.events": json,
	"store_chargebacks.events": json,
	"store_deliverables.events": json,
	"store_subscriptions.events": json,
	"store_subscriptions.cancel_events": json,
};

type Convert = (row: Row) => Row;

/** By statement, how its rows are converted, if they are. */
const converters = new WeakMap<StatementSync, Convert | null>();

function converterOf(statement: StatementSync): Convert | null {
	const known = converters.get(statement);
	if (known !== undefined) return known;
	const columns = statement.columns().flatMap(({ table, column, name }) => {
		const convert = CONVERTED[`${table}.${column}`];
		return convert === undefined ? [] : [{ name, convert }];
	});
	const convert = (row: Row): Row => {
		for (const { name, convert } of columns) row[name] = convert(row[name] as string | number | null);
		return row;
	};
	const converter = columns.length === 0 ? null : convert;
	converters.set(statement, converter);
	return converter;
}

function runQuery(c: Connection, { template, values }: Query<unknown>): Row[] {
	const prepared = c.prepare(template.text("sqlite"));
	const rows = prepared.all(values.map((value): SQLInputValue => (typeof value === "boolean" ? Number(value) : value)));
	const convert = rows.length === 0 ? null : converterOf(prepared.statement);
	return convert === null ? rows : rows.map(convert);
}

/** There is one writer, so everything is held. */
const held = (): void => undefined;

/** What a verb needs in addition to the connection. */
export interface VerbContext {
	/** The time on the node's clock. */
	readonly now: number;
	/** By default there are no peers: one process owns the file. */
	readonly tellPeers?: Natives["tellPeers"];
}

const nativesOf = (c: Connection, { now, tellPeers = () => undefined }: VerbContext): Natives => ({
	findProject: (projectId) => c.names.project(projectId),
	findWebhook: (project, webhookId) => c.names.webhook(project, webhookId),
	lockAccounts: held,
	tellPeers,
	// Both are in the project's row.
	openLog: () => undefined,
	holdLog: held,
	holdProject: (project) => log.lastSeq(c, project),
	now: () => now,
	wake: (project) => lanes.wakeForChange(c, project),
	// One process owns the file, so there is one clock.
	toDatabaseTime: (at) => at,
	toNodeTime: (at) => at,
	appendFacts: (projectId, _, facts) => appendFacts(c, projectId, facts),
	walkAttempts: (project, kind, range, limit) => walkForward(c, project, kind, range, limit),
	commit: () => undefined,
});

/** Runs a verb that is written once for both engines. */
export function runVerb<R>(c: Connection, steps: Steps<R>, context: VerbContext): R {
	const natives = nativesOf(c, context);
	return runSync(steps, (part) => {
		if ("template" in part) return runQuery(c, part);
		const [name, ...args] = part.call;
		return (natives[name] as (...args: unknown[]) => unknown)(...args);
	});
}

const SHARED = Object.fromEntries(
	Object.entries<SharedVerb<readonly [never]>>(VERBS).map(([name, { mode, steps, typesOf }]) => [
		name,
		on(mode === "read" ? "reader" : "writer")((c, p: never, { now }) => {
			for (const type of typesOf?.(p) ?? []) c.names.internType(type);
			return runVerb(c, steps(p), { now });
		}),
	]),
);

/** What a thread runs, by name. */
export const OPERATIONS: Readonly<Record<string, Verb<never, unknown>>> = { ...NATIVE, ...OWN, ...SHARED };

type Calls<Table> = { [K in keyof Table]: Table[K] extends Verb<infer P, infer R> ? (p: P) => Promise<R> : never };

/** The verbs as calls to the threads. @param now the node's clock */
export function callsOf(
	threads: Readonly<Record<Thread, Channel>>,
	now: () => number,
): NativeVerbs & ColdStorage & Calls<typeof OWN> {
	const calls = Object.entries(OPERATIONS).map(([name, { thread, pack, unpack }]) => {
		const call = (p: unknown) => threads[thread].call<never>(name, pack(p as never), now());
		return [name, unpack === undefined ? call : (p: unknown) => call(p).then(unpack)];
	});
	return Object.fromEntries(calls) as NativeVerbs & ColdStorage & Calls<typeof OWN>;
}

/** Copies bytes out of memory that they share with others, since a message would carry all of it. */
function withOwnBytes<T>(value: T): T {
	if (typeof value !== "object" || value === null) return value;
	if (value instanceof Uint8Array) return Uint8Array.from(value) as T;
	if (Array.isArray(value)) return (typeof value[0] === "object" ? value.map(withOwnBytes) : value) as T;
	if (value instanceof Map) return value;
	return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withOwnBytes(member)])) as T;
}
