/**
 * The verbs on SQLite: for each, the thread that runs it, its function, and how its parameters and result are packed if
 * copying them between threads would cost too much.
 *
 * The reader sees everything that has been committed and never waits for a commit. No read takes long, so the engine's
 * reads need no thread of their own.
 */
import type { NativeVerbs, Params, Result } from "../port.ts";
import { type ColdStorage, VERBS } from "../verbs/index.ts";
import type { Verb as SharedVerb, Steps } from "../verbs/verb.ts";
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
import * as baskets from "./facts/baskets.ts";
import * as orders from "./facts/orders.ts";
import { countAttempts, getAttempt, getDelivery, listAttemptSummaries, listAttempts } from "./history/attempts.ts";
import { readHealth } from "./history/health.ts";
import { readStats } from "./history/stats.ts";
import { readBacklogs, readGauges } from "./lanes/backlog.ts";
import * as lanes from "./lanes/lanes.ts";
import { listWaitingRetries } from "./lanes/lanes.ts";
import * as replay from "./lanes/replay.ts";
import * as matching from "./lanes/replay.ts";
import { settle } from "./lanes/settle.ts";
import { forgetHandedOver, settleHandedOver } from "./leases/handover.ts";
import * as leases from "./leases/leases.ts";
import { appendEvents } from "./log/append.ts";
import * as log from "./log/log.ts";
import * as webhooks from "./registry/webhooks.ts";
import { sweepAttempts, sweepEvents } from "./retention/retention.ts";
import { runVerb } from "./run-verb.ts";

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
	findEvent: packed(
		"reader",
		withOwnBytes<Params<"findEvent">>,
		log.findEvent,
		(found) => unpackEvents(found)[0] ?? null,
	),

	createWebhook: write(webhooks.createWebhook),
	updateWebhook: write(webhooks.updateWebhook),
	deleteWebhook: write(webhooks.deleteWebhook),
	readBacklogs: read(readBacklogs),

	acquireLeases: packed(
		"writer",
		({ holder, limit, projectIds }: Params<"acquireLeases">) => ({ holder, limit, projectIds }),
		leases.acquireLeases,
	),
	renewLeases: write(leases.renewLeases),
	releaseLease: write(leases.releaseLease),
	nextAlarm: read(leases.nextAlarm),
	loadLanes: read(lanes.loadLanes),
	endDeletion: write(lanes.endDeletion),
	readRetries: read(lanes.readRetries),
	settle: packed(
		"writer",
		({ settlements }: Params<"settle">) => packSettlements(settlements),
		(c, batch) => settle(c, unpackSettlements(batch)),
	),
	settleHandedOver: packed(
		"writer",
		({ handedOver, settlement }: Params<"settleHandedOver">) => [handedOver, packSettlements([settlement])] as const,
		(c, [handedOver, batch]) => settleHandedOver(c, handedOver, unpackSettlements(batch)[0]!),
	),
	forgetHandedOver: write(forgetHandedOver),
	appendTestEvent: write(replay.appendTestEvent),
	replayDelivery: write(replay.replayDelivery),
	replayFailed: write(replay.replayFailed),

	listAttempts: read(listAttempts),
	getAttempt: read(getAttempt),
	getDelivery: read(getDelivery),
	listAttemptSummaries: read(listAttemptSummaries),
	countAttempts: read(countAttempts),
	readStats: read(readStats),
	readHealth: read(readHealth),
	listWaitingRetries: read(listWaitingRetries),
	replayMatching: write(matching.replayMatching),
	countMatching: read(matching.countMatching),
	sweepAttempts: write(sweepAttempts),
	sweepEvents: write(sweepEvents),

	recordOrders: write(orders.recordOrders),
	touchBasket: write(baskets.touchBasket),
	removeBasket: write(baskets.removeBasket),
	takeDueBaskets: write(baskets.takeDueBaskets),
	nextBasketDue: read(baskets.nextBasketDue),
	abandonBaskets: write(baskets.abandonBaskets),
} satisfies Native;

/** What the storage itself needs from its threads. */
const OWN = {
	/** Writes a row, so that the disk is checked. */
	pingWriter: write((c) => {
		c.sql(
			"INSERT INTO settings (name, value) VALUES ('ping', '1') ON CONFLICT (name) DO UPDATE SET value = 1 - value",
		).run();
	}),
	pingReader: read((c) => {
		c.sql("SELECT value FROM settings WHERE name = 'ping'").get();
	}),
	readGauges: read((c, after: number) => readGauges(c, after)),
};

const SHARED = Object.fromEntries(
	Object.entries<SharedVerb>(VERBS).map(([name, { mode, steps }]) => [
		name,
		on(mode === "read" || mode === "snapshot" ? "reader" : "writer")((c, p) =>
			runVerb(c, (steps as (p: unknown) => Steps<unknown>)(p)),
		),
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
