/** The cold verbs: the name of each, how it runs, and its function. */
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
import { type Methods, read, snapshot, type Verb, write, writeInProject } from "./verb.ts";

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
	getRole: read(members.getRole),
	listMembers: read(members.listMembers),
	getMember: read(members.getMember),
	setRole: writeInProject(members.setRole),
	removeMember: writeInProject(members.removeMember),

	createInvitation: writeInProject(members.createInvitation),
	findInvitation: read(members.findInvitation),
	listInvitations: read(members.listInvitations),
	deleteInvitation: writeInProject(members.deleteInvitation),
	acceptInvitation: writeInProject(members.acceptInvitation),

	appendAudit: writeInProject(members.appendAudit),
	listAudit: read(members.listAudit),
	sweepAudit: write(members.sweepAudit),
} satisfies Readonly<Record<string, Verb>>;

const KEYS = {
	createApiKey: writeInProject(keys.createApiKey),
	listApiKeys: read(keys.listApiKeys),
	getApiKey: read(keys.getApiKey),
	deleteApiKey: writeInProject(keys.deleteApiKey),
	findApiKey: read(keys.findApiKey),
	touchApiKeys: write(keys.touchApiKeys),
} satisfies Readonly<Record<string, Verb>>;

const PROJECTS = {
	createProject: write(projects.createProject),
	getProject: read(projects.getProject),
	listProjects: read(projects.listProjects),
	renameProject: writeInProject(projects.renameProject),
	setDeveloperApp: writeInProject(projects.setDeveloperApp),

	getWebhook: read(webhooks.getWebhook),
	listWebhooks: read(webhooks.listWebhooks),
	listDeletedWebhooks: read(webhooks.listDeletedWebhooks),
	createWebhook: writeInProject(webhooks.createWebhook, ({ events }) => events),
	updateWebhook: writeInProject(webhooks.updateWebhook, ({ patch }) => patch.events ?? []),
	rotateSecret: writeInProject(webhooks.rotateSecret),
	listSecrets: read(webhooks.listSecrets),
	resealSecret: writeInProject(webhooks.resealSecret),
	deleteWebhook: writeInProject(webhooks.deleteWebhook),
	endDeletion: writeInProject(webhooks.endDeletion),
} satisfies Readonly<Record<string, Verb>>;

/** Deliveries, test events, replays, and pending attempts that are made early or cancelled. */
const DELIVERIES = {
	getDelivery: snapshot(deliveries.getDelivery),
	appendTestEvent: writeInProject(deliveries.appendTestEvent),
	replayDelivery: writeInProject(deliveries.replayDelivery),
	replayMatching: writeInProject(deliveries.replayMatching),
	countMatching: read(deliveries.countMatching),
	readLatest: read(deliveries.readLatest),
	listUnattempted: read(retries.listUnattempted),
	countRetries: read(retries.countRetries),
	dismissDeliveries: writeInProject(deliveries.dismissDeliveries),
	cancelTest: writeInProject(retries.cancelTest),
	retryDeliveries: writeInProject(retries.retryDeliveries),
	retryWaiting: writeInProject(retries.retryWaiting),
} satisfies Readonly<Record<string, Verb>>;

/** Facts that the store platform reports. */
const FACTS = {
	recordOrders: writeInProject(facts.recordOrders, ({ orders }) =>
		orders.flatMap(({ customerCreated, purchaseCompleted }) => [customerCreated.type, purchaseCompleted.type]),
	),
	getOrder: read(facts.getOrder),
	recordRefund: writeInProject(facts.recordRefund, ({ refund }) => [refund.partial.type, refund.whole.type]),
	recordChargeback: writeInProject(facts.recordChargeback, ({ chargeback }) => [chargeback.event.type]),
	recordDeliverable: writeInProject(facts.recordDeliverable, ({ deliverable }) => [deliverable.event.type]),
	recordSubscription: writeInProject(facts.recordSubscription, ({ subscription }) => [subscription.event.type]),
	getSubscription: read(facts.getSubscription),
	cancelSubscription: writeInProject(facts.cancelSubscription, ({ event }) => [event.type]),

	touchBasket: writeInProject(facts.touchBasket),
	removeBasket: writeInProject(facts.removeBasket),
	takeDueBaskets: write(facts.takeDueBaskets),
	nextBasketDue: read(facts.nextBasketDue),
	abandonBaskets: writeInProject(facts.abandonBaskets, ({ baskets }) => baskets.map(({ event }) => event.type)),
} satisfies Readonly<Record<string, Verb>>;

/** Finding events by what is in them. */
const SEARCH = {
	readUnindexed: read(search.readUnindexed),
	indexReferences: write(search.indexReferences),
	findReferences: read(search.findReferences),
	sweepReferences: write(search.sweepReferences),
	describeEvents: read(search.describeEvents),
	readOrderIds: read(search.readOrderIds),
	takeByAttempts: read(search.takeByAttempts),
	searchBodies: read(search.searchBodies),
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
