/** The verbs on PostgreSQL: for each, the connections that it runs on, and its function. */
import type { NativeVerbs, Params, Result } from "../port.ts";
import { type ColdStorage, VERBS } from "../verbs/index.ts";
import type { Template } from "../verbs/sql.ts";
import { type Natives, type Part, runAsync, type Verb as SharedVerb, type Steps } from "../verbs/verb.ts";
import type { Connections, PoolName } from "./connection/connections.ts";
import { findProject, findWebhook } from "./connection/names.ts";
import { type Session, type Statement, sql } from "./connection/session.ts";
import { hasMoreAttempts } from "./history/attempt-ranges.ts";
import {
	countAttempts,
	getAttempt,
	listAttemptSummaries,
	listAttempts,
	listFollowedAttempts,
	searchResponses,
	walkForward,
} from "./history/attempts.ts";
import { readHealth } from "./history/health.ts";
import { readStats } from "./history/stats.ts";
import * as lanes from "./lanes/lanes.ts";
import { LOCK_ACCOUNTS, lockProject, wakeForChange } from "./lanes/locks.ts";
import { settle, settleHandedOver } from "./lanes/settle.ts";
import * as leases from "./leases/leases.ts";
import { appendEvents, appendFacts, holdLogs } from "./log/append.ts";
import * as log from "./log/log.ts";
import type { PostgresNode } from "./node.ts";
import { sweepEvents } from "./retention/retention.ts";

/** Runs on a connection, within the transaction if there is one. */
type Work<P, R> = (c: Session, p: P, node: PostgresNode) => Promise<R>;
type Verb<P, R> = (node: PostgresNode, p: P) => Promise<R>;

/** How each runs: see {@link PostgresNode}. */
const by =
	(how: "read" | "snapshot" | "write") =>
	<P, R>(work: Work<P, R>, pool?: PoolName): Verb<P, R> =>
	(node, p) =>
		node[how]((c) => work(c, p, node), pool);
const read = by("read");
const snapshot = by("snapshot");
const write = by("write");
/** Chooses its own connections. */
const choosing =
	<P, R>(work: (connections: Connections, p: P, node: PostgresNode) => Promise<R>): Verb<P, R> =>
	(node, p) =>
		node.database.run((connections) => work(connections, p, node));

type Native = { readonly [K in keyof NativeVerbs]: Verb<Params<K>, Result<K>> };

const NATIVE = {
	readLogEnd: read(log.readLogEnd),
	appendEvents: choosing(appendEvents),
	readLog: read(log.readLog, "engine"),
	readEvents: read(log.readEvents, "engine"),

	readBacklogs: read(lanes.readBacklogs),

	acquireLeases: leases.acquireLeases,
	renewLeases: leases.renewLeases,
	releaseLease: choosing(leases.releaseLease),
	nextAlarm: read(leases.nextAlarm, "engine"),
	loadLanes: snapshot(lanes.loadLanes, "engine"),
	readRetries: read(lanes.readRetries, "engine"),
	settle,
	settleHandedOver: choosing(settleHandedOver),
	forgetHandedOver: write(leases.forgetHandedOver, "engine"),

	listAttempts: read(listAttempts),
	getAttempt: read(getAttempt),
	listAttemptSummaries: read(listAttemptSummaries),
	listFollowedAttempts: read(listFollowedAttempts),
	countAttempts: read(countAttempts),
	hasMoreAttempts: read(hasMoreAttempts),
	searchResponses: read(searchResponses),
	readStats: snapshot(readStats),
	readHealth: snapshot(readHealth),
	listWaitingRetries: read(lanes.listWaitingRetries),
	sweepAttempts: choosing((connections, p, node) => node.attemptSweep.step(connections, p, node.clock.now())),
	sweepEvents: choosing(sweepEvents),
} satisfies Native;

const statements = new WeakMap<Template, Statement>();

function statementOf(template: Template): Statement {
	let statement = statements.get(template);
	if (statement === undefined) {
		statement = sql(template.text("postgres"));
		statements.set(template, statement);
	}
	return statement;
}

const OPEN_LOG = sql(`
	WITH made AS (
		SELECT no FROM posthorn.projects WHERE id = $1
	), log AS (
		INSERT INTO posthorn.logs (project_no) SELECT no FROM made
	)
	INSERT INTO posthorn.leases (project_no) SELECT no FROM made`);

type AsyncNatives = {
	readonly [K in keyof Natives]: (...args: Parameters<Natives[K]>) => Promise<ReturnType<Natives[K]> | unknown>;
};

const nativesOf = (c: Session, node: PostgresNode): AsyncNatives => ({
	findProject: (projectId) => findProject(c, projectId),
	findWebhook: (project, webhookId) => findWebhook(c, project, webhookId),
	lockAccounts: () => c.run(LOCK_ACCOUNTS),
	tellPeers: async (project) => c.changed.add(project),
	openLog: (projectId) => c.run(OPEN_LOG, projectId),
	holdLog: (project) => holdLogs(c, [project], true),
	holdProject: (project) => lockProject(c, project),
	now: async () => node.clock.now(),
	wake: (project) => wakeForChange(c, project),
	toDatabaseTime: async (at) => c.offset.toDatabase(at),
	toNodeTime: async (at) => c.offset.toNode(at),
	appendFacts: (_, project, facts) => appendFacts(c, project, facts),
	walkAttempts: (project, kind, range, limit) => walkForward(c, project, kind, range, limit),
	commit: () => c.commit(),
});

/** Runs a verb that is written once for both engines. */
function runVerb<R>(c: Session, node: PostgresNode, steps: Steps<R>): Promise<R> {
	const natives = nativesOf(c, node);
	return runAsync(steps, (part: Part): Promise<unknown> => {
		if ("template" in part) return c.rows(statementOf(part.template), ...part.values);
		const [name, ...args] = part.call;
		return (natives[name] as (...args: unknown[]) => Promise<unknown>)(...args);
	});
}

/** Nearly every request begins with these, so they don't wait for what others read. */
const OF_ACCESS: ReadonlySet<string> = new Set<keyof ColdStorage>([
	"findApiKey",
	"findSession",
	"getRole",
	"getProject",
]);

function sharedVerb(name: string, { mode, steps, typesOf }: SharedVerb<readonly [never]>): Verb<never, unknown> {
	const work: Work<never, unknown> = (c, p, node) => runVerb(c, node, steps(p));
	switch (mode) {
		case "read":
			return read(work, OF_ACCESS.has(name) ? "access" : undefined);
		case "snapshot":
			return snapshot(work);
		case "write":
			return write(work);
		case "writeInProject":
			return (node, p: { readonly projectId: string }) =>
				node.writeInProject(p.projectId, (c) => work(c, p as never, node), typesOf?.(p as never));
	}
}

const SHARED = Object.fromEntries(
	Object.entries<SharedVerb<readonly [never]>>(VERBS).map(([name, verb]) => [name, sharedVerb(name, verb)]),
);

export function callsOf(node: PostgresNode): NativeVerbs & ColdStorage {
	const calls = Object.entries<Verb<never, unknown>>({ ...NATIVE, ...SHARED }).map(([name, verb]) => [
		name,
		(p: never) => verb(node, p),
	]);
	return Object.fromEntries(calls) as NativeVerbs & ColdStorage;
}
