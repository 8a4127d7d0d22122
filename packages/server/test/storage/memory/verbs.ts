import * as backlog from "./backlog.ts";
import * as baskets from "./baskets.ts";
import * as epochs from "./epochs.ts";
import * as facts from "./facts.ts";
import * as handover from "./handover.ts";
import * as health from "./health.ts";
import * as history from "./history.ts";
import * as lanes from "./lanes.ts";
import * as leases from "./leases.ts";
import * as log from "./log.ts";
import type { MemoryNode } from "./node.ts";
import * as registry from "./registry.ts";
import * as replay from "./replay.ts";
import * as retention from "./retention.ts";
import * as stats from "./stats.ts";

/** Verbs that no project's lock holds up. */
export const FREE_VERBS = {
	countAttempts: history.countAttempts,
	createProject: registry.createProject,
	endDeletion: lanes.endDeletion,
	findEvent: log.findEvent,
	forgetHandedOver: handover.forgetHandedOver,
	gauges: backlog.readGauges,
	getAttempt: history.getAttempt,
	getDelivery: history.getDelivery,
	getOrder: facts.getOrder,
	getProject: registry.getProject,
	getSubscription: facts.getSubscription,
	getWebhook: registry.getWebhook,
	listAttempts: history.listAttempts,
	listAttemptSummaries: history.listAttemptSummaries,
	listProjects: registry.listProjects,
	listWaitingRetries: health.listWaitingRetries,
	listWebhooks: registry.listWebhooks,
	loadLanes: lanes.loadLanes,
	nextAlarm: leases.nextAlarm,
	nextBasketDue: baskets.nextBasketDue,
	readBacklogs: backlog.readBacklogs,
	readEvents: log.readEvents,
	readHealth: health.readHealth,
	readLog: log.readLog,
	readLogEnd: epochs.readLogEnd,
	readRetries: lanes.readRetries,
	readStats: stats.readStats,
	removeBasket: baskets.removeBasket,
	renameProject: registry.renameProject,
	sweepAttempts: retention.sweepAttempts,
	sweepEvents: retention.sweepEvents,
	takeDueBaskets: baskets.takeDueBaskets,
};

/** Verbs that hold the project that they name first: they wait while another session holds it. */
export const HOLDING_VERBS = {
	abandonBaskets: baskets.abandonBaskets,
	appendTestEvent: replay.appendTestEvent,
	cancelSubscription: facts.cancelSubscription,
	deleteWebhook: registry.deleteWebhook,
	recordChargeback: facts.recordChargeback,
	recordDeliverable: facts.recordDeliverable,
	recordOrders: facts.recordOrders,
	recordRefund: facts.recordRefund,
	recordSubscription: facts.recordSubscription,
	replayDelivery: replay.replayDelivery,
	replayFailed: replay.replayFailed,
	rotateSecret: registry.rotateSecret,
	setDeveloperApp: registry.setDeveloperApp,
	touchBasket: baskets.touchBasket,
	updateWebhook: registry.updateWebhook,
};

type Verbs = typeof FREE_VERBS & typeof HOLDING_VERBS;
type Call<V> = V extends (node: MemoryNode, ...args: infer A) => infer R ? (...args: A) => Promise<R> : never;

/** The same verbs as calls of one node. */
export type Calls<V extends Partial<Verbs>> = { readonly [K in keyof V]: Call<V[K]> };

type Verb = (node: MemoryNode, ...args: unknown[]) => unknown;

/** Has each verb run as `run` says. */
function bind<V extends Partial<Verbs>>(
	node: MemoryNode,
	verbs: V,
	run: (verb: () => unknown, args: readonly unknown[]) => Promise<unknown>,
): Calls<V> {
	const calls = Object.entries(verbs).map(([name, verb]) => [
		name,
		(...args: unknown[]) => run(() => (verb as Verb)(node, ...args), args),
	]);
	return Object.fromEntries(calls) as Calls<V>;
}

export const freeCalls = (node: MemoryNode): Calls<typeof FREE_VERBS> =>
	bind(node, FREE_VERBS, (verb) => node.run(verb));

export const holdingCalls = (node: MemoryNode): Calls<typeof HOLDING_VERBS> =>
	bind(node, HOLDING_VERBS, (verb, [projectId]) => node.runHolding(projectId as string, verb));
