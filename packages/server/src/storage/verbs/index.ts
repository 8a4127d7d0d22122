/** The cold verbs: the name of each, how it runs, and its function. */
import type { By } from "../port/accounts.ts";
import { countedPage } from "../shared/deliveries.ts";
import * as accounts from "./accounts.ts";
import * as deliveries from "./deliveries.ts";
import * as facts from "./facts.ts";
import * as keys from "./keys.ts";
import * as members from "./members.ts";
import * as projects from "./registry.ts";
import * as webhooks from "./registry.ts";
import * as retries from "./retries.ts";
import * as search from "./search.ts";
import * as settings from "./settings.ts";
import { inProject, type Methods, read, snapshot, type Verb, write, writeInProject } from "./verb.ts";

// What verbs return if their project doesn't exist.
const noMember = ({ by }: By) => (by ? "not_allowed" : "no_member");
const noProject = () => ({ kind: "no_project" }) as const;
const forEachDelivery =
	<T>(result: T) =>
	({ deliveries }: { readonly deliveries: readonly unknown[] }): T[] =>
		deliveries.map(() => result);

/** Accounts, sessions, members, invitations and the audit log. */
const PEOPLE = {
	hasOperator: read(accounts.hasOperator),
	createAccount: write(accounts.createAccount),
	createOperator: write(accounts.createOperator),
	getAccount: read(accounts.getAccount),
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
	getRole: read(inProject(members.getRole, () => null)),
	listMembers: read(inProject(members.listMembers, () => [])),
	getMember: read(inProject(members.getMember, () => null)),
	setRole: writeInProject(inProject(members.setRole, noMember)),
	removeMember: writeInProject(inProject(members.removeMember, noMember)),

	createInvitation: writeInProject(members.createInvitation),
	findInvitation: read(members.findInvitation),
	listInvitations: read(inProject(members.listInvitations, () => [])),
	deleteInvitation: writeInProject(inProject(members.deleteInvitation, () => false)),
	acceptInvitation: writeInProject(inProject(members.acceptInvitation, () => null)),

	appendAudit: writeInProject(members.appendAudit),
	listAudit: read(inProject(members.listAudit, () => [])),
	sweepAudit: write(members.sweepAudit),
} satisfies Readonly<Record<string, Verb>>;

const KEYS = {
	createApiKey: writeInProject(keys.createApiKey),
	listApiKeys: read(inProject(keys.listApiKeys, () => [])),
	getApiKey: read(inProject(keys.getApiKey, () => null)),
	deleteApiKey: writeInProject(inProject(keys.deleteApiKey, () => false)),
	findApiKey: read(keys.findApiKey),
	touchApiKeys: write(keys.touchApiKeys),
} satisfies Readonly<Record<string, Verb>>;

const PROJECTS = {
	createProject: write(projects.createProject),
	getProject: read(projects.getProject),
	listProjects: read(projects.listProjects),
	renameProject: writeInProject(inProject(projects.renameProject, () => null)),
	setDeveloperApp: writeInProject(inProject(projects.setDeveloperApp, () => null)),

	getWebhook: read(inProject(webhooks.getWebhook, () => null)),
	listWebhooks: read(inProject(webhooks.listWebhooks, () => [])),
	listDeletedWebhooks: read(inProject(webhooks.listDeletedWebhooks, () => [])),
	createWebhook: writeInProject(
		inProject(webhooks.createWebhook, () => "no_project" as const),
		({ events }) => events,
	),
	updateWebhook: writeInProject(
		inProject(webhooks.updateWebhook, () => null),
		({ patch }) => patch.events ?? [],
	),
	rotateSecret: writeInProject(inProject(webhooks.rotateSecret, () => false)),
	listSecrets: read(inProject(webhooks.listSecrets, () => [])),
	resealSecret: writeInProject(inProject(webhooks.resealSecret, () => false)),
	deleteWebhook: writeInProject(inProject(webhooks.deleteWebhook, () => false)),
	endDeletion: writeInProject(inProject(webhooks.endDeletion, () => undefined)),
} satisfies Readonly<Record<string, Verb>>;

/** Deliveries, test events, replays, and pending attempts that are made early or cancelled. */
const DELIVERIES = {
	getDelivery: snapshot(inProject(deliveries.getDelivery, () => null)),
	appendTestEvent: writeInProject(inProject(deliveries.appendTestEvent, () => "no_webhook" as const)),
	replayDelivery: writeInProject(inProject(deliveries.replayDelivery, () => ({ kind: "no_delivery" }) as const)),
	replayMatching: writeInProject(inProject(deliveries.replayMatching, () => ({ count: 0, next: null }))),
	countMatching: read(inProject(deliveries.countMatching, () => countedPage([], null))),
	readLatest: read(inProject(deliveries.readLatest, forEachDelivery(deliveries.NO_ATTEMPT))),
	listUnattempted: read(inProject(retries.listUnattempted, () => ({ rows: [], next: null }))),
	countRetries: read(inProject(retries.countRetries, () => ({ count: 0, next: null }))),
	dismissDeliveries: writeInProject(inProject(deliveries.dismissDeliveries, forEachDelivery(false))),
	cancelTest: writeInProject(inProject(retries.cancelTest, () => "nothing_waits" as const)),
	retryDeliveries: writeInProject(inProject(retries.retryDeliveries, forEachDelivery(retries.NOTHING_WAITS))),
	retryWaiting: writeInProject(inProject(retries.retryWaiting, () => ({ seqs: [], next: null }))),
} satisfies Readonly<Record<string, Verb>>;

/** Facts that the store platform reports. */
const FACTS = {
	recordOrders: writeInProject(
		inProject(facts.recordOrders, ({ orders }) => orders.map(noProject)),
		({ orders }) =>
			orders.flatMap(({ customerCreated, purchaseCompleted }) => [customerCreated.type, purchaseCompleted.type]),
	),
	getOrder: read(inProject(facts.getOrder, () => null)),
	recordRefund: writeInProject(inProject(facts.recordRefund, noProject), ({ refund }) => [
		refund.partial.type,
		refund.whole.type,
	]),
	recordChargeback: writeInProject(inProject(facts.recordChargeback, noProject), ({ chargeback }) => [
		chargeback.event.type,
	]),
	recordDeliverable: writeInProject(inProject(facts.recordDeliverable, noProject), ({ deliverable }) => [
		deliverable.event.type,
	]),
	recordSubscription: writeInProject(inProject(facts.recordSubscription, noProject), ({ subscription }) => [
		subscription.event.type,
	]),
	getSubscription: read(inProject(facts.getSubscription, () => null)),
	cancelSubscription: writeInProject(inProject(facts.cancelSubscription, noProject), ({ event }) => [event.type]),

	touchBasket: writeInProject(inProject(facts.touchBasket, () => "no_project" as const)),
	removeBasket: writeInProject(inProject(facts.removeBasket, () => "no_project" as const)),
	takeDueBaskets: write(facts.takeDueBaskets),
	nextBasketDue: read(facts.nextBasketDue),
	abandonBaskets: writeInProject(
		inProject(facts.abandonBaskets, () => []),
		({ baskets }) => baskets.map(({ event }) => event.type),
	),
} satisfies Readonly<Record<string, Verb>>;

/** Finding events by what is in them. */
const SEARCH = {
	readUnindexed: read(inProject(search.readUnindexed, () => null)),
	indexReferences: write(inProject(search.indexReferences, () => false)),
	findReferences: read(inProject(search.findReferences, () => search.NO_REFERENCES)),
	sweepReferences: write(inProject(search.sweepReferences, () => false)),
	describeEvents: read(inProject(search.describeEvents, () => [])),
	readOrderIds: read(inProject(search.readOrderIds, () => [])),
	searchBodies: read(inProject(search.searchBodies, () => search.NOTHING_FOUND)),
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
