import * as backlog from "./backlog.ts";
import * as baskets from "./baskets.ts";
import * as epochs from "./epochs.ts";
import * as facts from "./facts.ts";
import * as handover from "./handover.ts";
import * as health from "./health.ts";
import * as history from "./history.ts";
import * as lanes from "./lanes.ts";
import { dismissDeliveries, readLatest } from "./latest.ts";
import * as leases from "./leases.ts";
import * as log from "./log.ts";
import type { MemoryNode } from "./node.ts";
import * as registry from "./registry.ts";
import * as replay from "./replay.ts";
import * as retention from "./retention.ts";
import * as retryNow from "./retry-now.ts";
import * as search from "./search.ts";
import * as stats from "./stats.ts";

/** Verbs that don't wait for a project's lock. */
const FREE_VERBS = {
	acquireLeases: leases.acquireLeases,
	countAttempts: history.countAttempts,
	countMatching: replay.countMatching,
	countRetries: retryNow.countRetries,
	createProject: registry.createProject,
	findEvent: log.findEvent,
	findReferences: search.findReferences,
	forgetHandedOver: handover.forgetHandedOver,
	gauges: backlog.readGauges,
	getAttempt: history.getAttempt,
	getDelivery: history.getDelivery,
	getOrder: facts.getOrder,
	getProject: registry.getProject,
	getSubscription: facts.getSubscription,
	getWebhook: registry.getWebhook,
	indexReferences: search.indexReferences,
	listAttempts: history.listAttempts,
	listAttemptSummaries: history.listAttemptSummaries,
	listFollowedAttempts: history.listFollowedAttempts,
	listProjects: registry.listProjects,
	listUnattempted: health.listUnattempted,
	listWaitingRetries: health.listWaitingRetries,
	listSecrets: registry.listSecrets,
	listWebhooks: registry.listWebhooks,
	listDeletedWebhooks: registry.listDeletedWebhooks,
	loadLanes: lanes.loadLanes,
	nextAlarm: leases.nextAlarm,
	nextBasketDue: baskets.nextBasketDue,
	readBacklogs: backlog.readBacklogs,
	readEvents: log.readEvents,
	readHealth: health.readHealth,
	readLatest,
	readLog: log.readLog,
	readLogEnd: epochs.readLogEnd,
	readRetries: lanes.readRetries,
	readStats: stats.readStats,
	readUnindexed: search.readUnindexed,
	removeBasket: baskets.removeBasket,
	renameProject: registry.renameProject,
	describeEvents: search.describeEvents,
	readOrderIds: search.readOrderIds,
	searchBodies: search.searchBodies,
	searchResponses: search.searchResponses,
	sweepAttempts: retention.sweepAttempts,
	sweepEvents: retention.sweepEvents,
	sweepReferences: search.sweepReferences,
	hasMoreAttempts: search.hasMoreAttempts,
	takeDueBaskets: baskets.takeDueBaskets,
};

/** Verbs that hold their project, and wait while another session holds it. */
const HOLDING_VERBS = {
	abandonBaskets: baskets.abandonBaskets,
	appendTestEvent: replay.appendTestEvent,
	cancelSubscription: facts.cancelSubscription,
	cancelTest: retryNow.cancelTest,
	createWebhook: registry.createWebhook,
	deleteWebhook: registry.deleteWebhook,
	dismissDeliveries,
	endDeletion: lanes.endDeletion,
	recordChargeback: facts.recordChargeback,
	recordDeliverable: facts.recordDeliverable,
	recordOrders: facts.recordOrders,
	recordRefund: facts.recordRefund,
	recordSubscription: facts.recordSubscription,
	replayDelivery: replay.replayDelivery,
	replayMatching: replay.replayMatching,
	retryDeliveries: retryNow.retryDeliveries,
	retryWaiting: retryNow.retryWaiting,
	resealSecret: registry.resealSecret,
	rotateSecret: registry.rotateSecret,
	setDeveloperApp: registry.setDeveloperApp,
	touchBasket: baskets.touchBasket,
	updateWebhook: registry.updateWebhook,
};

type Verb = (node: MemoryNode, p: never) => unknown;

/** The verbs as calls of one node. */
type Calls<Table> = {
	readonly [K in keyof Table]: Table[K] extends (node: MemoryNode, ...p: infer P) => infer R
		? (...p: P) => Promise<R>
		: never;
};

function callsOf<Table extends Readonly<Record<string, Verb>>>(
	table: Table,
	run: (verb: Verb, p: never) => Promise<unknown>,
): Calls<Table> {
	const calls = Object.entries(table).map(([name, verb]) => [name, (p: never) => run(verb, p)]);
	return Object.fromEntries(calls) as Calls<Table>;
}

export const freeCalls = (node: MemoryNode): Calls<typeof FREE_VERBS> =>
	callsOf(FREE_VERBS, (verb, p) => node.run(() => verb(node, p)));

export const holdingCalls = (node: MemoryNode): Calls<typeof HOLDING_VERBS> =>
	callsOf(HOLDING_VERBS, (verb, p) =>
		node.runHolding((p as { readonly projectId: string }).projectId, () => verb(node, p)),
	);
