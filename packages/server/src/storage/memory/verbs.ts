import * as accounts from "./accounts.ts";
import * as audit from "./audit.ts";
import * as backlog from "./backlog.ts";
import * as baskets from "./baskets.ts";
import * as epochs from "./epochs.ts";
import * as facts from "./facts.ts";
import * as handover from "./handover.ts";
import * as health from "./health.ts";
import * as history from "./history.ts";
import * as keys from "./keys.ts";
import * as lanes from "./lanes.ts";
import * as leases from "./leases.ts";
import * as log from "./log.ts";
import * as members from "./members.ts";
import type { MemoryNode } from "./node.ts";
import * as registry from "./registry.ts";
import * as replay from "./replay.ts";
import * as retention from "./retention.ts";
import * as stats from "./stats.ts";

/** Verbs that no project's lock holds up. */
export const FREE_VERBS = {
	acceptInvitation: members.acceptInvitation,
	appendAudit: audit.appendAudit,
	countAttempts: history.countAttempts,
	createAccount: accounts.createAccount,
	createApiKey: keys.createApiKey,
	createInvitation: members.createInvitation,
	createLink: accounts.createLink,
	createOperator: accounts.createOperator,
	createProject: registry.createProject,
	createSession: accounts.createSession,
	deleteApiKey: keys.deleteApiKey,
	deleteInvitation: members.deleteInvitation,
	deleteSession: accounts.deleteSession,
	deleteSessions: accounts.deleteSessions,
	endDeletion: lanes.endDeletion,
	findApiKey: keys.findApiKey,
	findCredentials: accounts.findCredentials,
	findEvent: log.findEvent,
	findInvitation: members.findInvitation,
	findSession: accounts.findSession,
	forgetHandedOver: handover.forgetHandedOver,
	gauges: backlog.readGauges,
	getAccount: accounts.getAccount,
	getApiKey: keys.getApiKey,
	getAttempt: history.getAttempt,
	getCredentials: accounts.getCredentials,
	getDelivery: history.getDelivery,
	getMember: members.getMember,
	getOrder: facts.getOrder,
	getProject: registry.getProject,
	getRole: members.getRole,
	getSetting: keys.getSetting,
	getSubscription: facts.getSubscription,
	getWebhook: registry.getWebhook,
	hasOperator: accounts.hasOperator,
	holdsSetupLink: accounts.holdsSetupLink,
	initSetting: keys.initSetting,
	listApiKeys: keys.listApiKeys,
	listAttempts: history.listAttempts,
	listAttemptSummaries: history.listAttemptSummaries,
	listAudit: audit.listAudit,
	listInvitations: members.listInvitations,
	listMembers: members.listMembers,
	listMemberships: members.listMemberships,
	listProjects: registry.listProjects,
	listSessions: accounts.listSessions,
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
	removeMember: members.removeMember,
	renameAccount: accounts.renameAccount,
	renameProject: registry.renameProject,
	setPassword: accounts.setPassword,
	setRole: members.setRole,
	sweepAttempts: retention.sweepAttempts,
	sweepAudit: audit.sweepAudit,
	sweepEvents: retention.sweepEvents,
	sweepExpired: accounts.sweepExpired,
	takeDueBaskets: baskets.takeDueBaskets,
	touchApiKeys: keys.touchApiKeys,
	touchSession: accounts.touchSession,
	useSignInLink: accounts.useSignInLink,
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
