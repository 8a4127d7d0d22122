/** The cold verbs: the name of each, how it runs, its function, and what it returns if its project doesn't exist. */
import type { By } from "../port/accounts.ts";
import type { ProjectRef } from "../port/registry.ts";
import { countedPage } from "../shared/deliveries.ts";
import * as accounts from "./accounts.ts";
import * as deliveries from "./deliveries.ts";
import * as facts from "./facts.ts";
import * as keys from "./keys.ts";
import * as members from "./members.ts";
import * as registry from "./registry.ts";
import * as replays from "./replays.ts";
import * as retries from "./retries.ts";
import * as search from "./search.ts";
import * as settings from "./settings.ts";
import { inProject, type Methods, read, type Verb, write } from "./verb.ts";

const noMember = ({ by }: By) => (by ? "not_allowed" : "no_member");
const noProject = () => ({ kind: "no_project" }) as const;
/** Callers have read the project, and none is ever deleted. */
const missing =
	(what: string) =>
	({ projectId }: ProjectRef): never => {
		throw new Error(`Project ${projectId} of ${what} doesn't exist.`);
	};
const forEachDelivery =
	<T>(result: T) =>
	({ deliveries }: { readonly deliveries: readonly unknown[] }): T[] =>
		deliveries.map(() => result);

/** Accounts, sessions, members, invitations and the audit log. */
const PEOPLE = {
	hasOperator: read(accounts.hasOperator),
	createAccount: write(accounts.createAccount),
	createOperator: write(accounts.createOperator),
	findCredentials: read(accounts.findCredentials),
	getCredentials: read(accounts.getCredentials),
	renameAccount: write(accounts.renameAccount),
	setPassword: write(accounts.setPassword),

	createSession: write(accounts.createSession),
	findSession: read(accounts.findSession),
	touchSession: write(accounts.touchSession),
	listSessions: read(accounts.listSessions),
	deleteSession: write(accounts.deleteSession),
	deleteSessions: write(accounts.deleteSessions),
	sweepExpired: write(accounts.sweepExpired),

	createLink: write(accounts.createLink),
	holdsSetupLink: read(accounts.holdsSetupLink),
	useSignInLink: write(accounts.useSignInLink),

	listMemberships: read(members.listMemberships),
	getRole: inProject.read(members.getRole, () => null),
	listMembers: inProject.read(members.listMembers, () => []),
	getMember: inProject.read(members.getMember, () => null),
	setRole: inProject.write(members.setRole, noMember),
	removeMember: inProject.write(members.removeMember, noMember),

	createInvitation: inProject.write(members.createInvitation, missing("an invitation")),
	findInvitation: read(members.findInvitation),
	listInvitations: inProject.read(members.listInvitations, () => []),
	deleteInvitation: inProject.write(members.deleteInvitation, () => false),
	acceptInvitation: inProject.write(members.acceptInvitation, () => null),

	appendAudit: inProject.write(members.appendAudit, missing("an audit entry")),
	listAudit: inProject.read(members.listAudit, () => []),
	sweepAudit: write(members.sweepAudit),
} satisfies Readonly<Record<string, Verb>>;

const KEYS = {
	createApiKey: inProject.write(keys.createApiKey, missing("an API key")),
	listApiKeys: inProject.read(keys.listApiKeys, () => []),
	getApiKey: inProject.read(keys.getApiKey, () => null),
	deleteApiKey: inProject.write(keys.deleteApiKey, () => false),
	findApiKey: read(keys.findApiKey),
	touchApiKeys: write(keys.touchApiKeys),
} satisfies Readonly<Record<string, Verb>>;

const PROJECTS = {
	createProject: write(registry.createProject),
	getProject: read(registry.getProject),
	listProjects: read(registry.listProjects),
	renameProject: inProject.write(registry.renameProject, () => null),
	setDeveloperApp: inProject.write(registry.setDeveloperApp, () => null),

	getWebhook: inProject.read(registry.getWebhook, () => null),
	listWebhooks: inProject.read(registry.listWebhooks, () => []),
	listDeletedWebhooks: inProject.read(registry.listDeletedWebhooks, () => []),
	createWebhook: inProject.write(
		registry.createWebhook,
		() => "no_project" as const,
		({ events }) => events,
	),
	updateWebhook: inProject.write(
		registry.updateWebhook,
		() => null,
		({ patch }) => patch.events ?? [],
	),
	rotateSecret: inProject.write(registry.rotateSecret, () => false),
	listSecrets: inProject.read(registry.listSecrets, () => []),
	resealSecret: inProject.write(registry.resealSecret, () => false),
	deleteWebhook: inProject.write(registry.deleteWebhook, () => false),
	endDeletion: inProject.write(registry.endDeletion, () => undefined),
} satisfies Readonly<Record<string, Verb>>;

/** Deliveries, test events, replays, and pending attempts that are made early or cancelled. */
const DELIVERIES = {
	findEvent: inProject.read(deliveries.findEvent, () => null),
	getDelivery: inProject.snapshot(deliveries.getDelivery, () => null),
	appendTestEvent: inProject.write(replays.appendTestEvent, () => "no_webhook" as const),
	replayDelivery: inProject.write(replays.replayDelivery, () => ({ kind: "no_delivery" }) as const),
	replayMatching: inProject.write(replays.replayMatching, () => ({ count: 0, next: null })),
	countMatching: inProject.read(replays.countMatching, () => countedPage([], null)),
	readLatest: inProject.read(deliveries.readLatest, forEachDelivery(deliveries.NO_ATTEMPT)),
	listUnattempted: inProject.read(retries.listUnattempted, () => ({ rows: [], next: null })),
	countRetries: inProject.read(retries.countRetries, () => ({ count: 0, next: null })),
	dismissDeliveries: inProject.write(deliveries.dismissDeliveries, forEachDelivery<deliveries.Dismissal>(null)),
	cancelTest: inProject.write(retries.cancelTest, () => "nothing_waits" as const),
	retryDeliveries: inProject.write(retries.retryDeliveries, forEachDelivery(retries.NOTHING_WAITS)),
	retryWaiting: inProject.write(retries.retryWaiting, () => ({ seqs: [], next: null })),
} satisfies Readonly<Record<string, Verb>>;

/** Facts that the store platform reports. */
const FACTS = {
	recordOrders: inProject.write(
		facts.recordOrders,
		({ orders }) => orders.map(noProject),
		({ orders }) =>
			orders.flatMap(({ customerCreated, purchaseCompleted }) => [customerCreated.type, purchaseCompleted.type]),
	),
	getOrder: inProject.read(facts.getOrder, () => null),
	recordRefund: inProject.write(facts.recordRefund, noProject, ({ refund }) => [
		refund.partial.type,
		refund.whole.type,
	]),
	recordChargeback: inProject.write(facts.recordChargeback, noProject, ({ chargeback }) => [chargeback.event.type]),
	recordDeliverable: inProject.write(facts.recordDeliverable, noProject, ({ deliverable }) => [deliverable.event.type]),
	recordSubscription: inProject.write(facts.recordSubscription, noProject, ({ subscription }) => [
		subscription.event.type,
	]),
	getSubscription: inProject.read(facts.getSubscription, () => null),
	cancelSubscription: inProject.write(facts.cancelSubscription, noProject, ({ event }) => [event.type]),

	touchBasket: inProject.write(facts.touchBasket, () => "no_project" as const),
	removeBasket: inProject.write(facts.removeBasket, () => "no_project" as const),
	takeDueBaskets: write(facts.takeDueBaskets),
	nextBasketDue: read(facts.nextBasketDue),
	abandonBaskets: inProject.write(
		facts.abandonBaskets,
		() => [],
		({ baskets }) => baskets.map(({ event }) => event.type),
	),
} satisfies Readonly<Record<string, Verb>>;

/** Finding events by what is in them. */
const SEARCH = {
	readUnindexed: inProject.read(search.readUnindexed, () => null),
	indexReferences: inProject.writeOutOfTurn(search.indexReferences, () => false),
	findReferences: inProject.read(search.findReferences, () => search.NO_REFERENCES),
	sweepReferences: inProject.writeOutOfTurn(search.sweepReferences, () => false),
	describeEvents: inProject.read(search.describeEvents, () => []),
	readOrderIds: inProject.read(search.readOrderIds, () => []),
	searchBodies: inProject.read(search.searchBodies, () => search.NOTHING_FOUND),
} satisfies Readonly<Record<string, Verb>>;

const SETTINGS = {
	getSetting: read(settings.getSetting),
	initSetting: write(settings.initSetting),
	setSetting: write(settings.setSetting),
	replaceSetting: write(settings.replaceSetting),
	observeClock: write(settings.observeClock),
	confirmClock: write(settings.confirmClock),
	endQuarantine: write(settings.endQuarantine),
} satisfies Readonly<Record<string, Verb>>;

export const VERBS = { ...PEOPLE, ...KEYS, ...PROJECTS, ...DELIVERIES, ...FACTS, ...SEARCH, ...SETTINGS };

export type AccountStorage = Methods<typeof PEOPLE>;
export type FactStorage = Methods<typeof FACTS>;
export type KeyStorage = Methods<typeof KEYS>;
export type RegistryStorage = Methods<typeof PROJECTS>;
export type SettingStorage = Methods<typeof SETTINGS>;
export type ColdStorage = Methods<typeof VERBS>;
