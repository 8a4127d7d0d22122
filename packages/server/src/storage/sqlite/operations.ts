import {
	createAccount,
	createFirstAccount,
	findCredentials,
	getAccount,
	getCredentials,
	hasAccounts,
	renameAccount,
	setPassword,
} from "./accounts.ts";
import { appendEvents } from "./append.ts";
import { countAttempts, listAttemptSummaries } from "./attempt-list.ts";
import { appendAudit, listAudit } from "./audit.ts";
import { readBacklogs } from "./backlog.ts";
import type { Connection } from "./connection.ts";
import { readGauges } from "./gauges.ts";
import { readHealth } from "./health.ts";
import { getAttempt, getDelivery, listAttempts } from "./history.ts";
import {
	acceptInvitation,
	createInvitation,
	deleteInvitation,
	findInvitation,
	listInvitations,
} from "./invitations.ts";
import { createApiKey, deleteApiKey, findApiKey, getSetting, initSetting, listApiKeys, touchApiKeys } from "./keys.ts";
import { loadLanes, readRetries } from "./lanes.ts";
import { acquireLeases, nextAlarm, releaseLease, renewLeases } from "./leases.ts";
import { findEvent, readEvents, readLog } from "./log.ts";
import { getRole, listMembers, listMemberships, removeMember, setRole } from "./members.ts";
import {
	createProject,
	createWebhook,
	deleteWebhook,
	getProject,
	getWebhook,
	listProjects,
	listWebhooks,
	renameProject,
	rotateSecret,
	setDeveloperApp,
	updateWebhook,
} from "./registry.ts";
import { appendTestEvent, replayDelivery, replayFailed } from "./replay.ts";
import { countMatching, replayMatching } from "./replay-matching.ts";
import { sweepAttempts, sweepEvents } from "./retention.ts";
import {
	createLink,
	createSession,
	deleteSession,
	deleteSessions,
	findSession,
	listSessions,
	sweepExpired,
	touchSession,
	useSignInLink,
} from "./sessions.ts";
import { settle } from "./settle.ts";
import { readStats } from "./stats.ts";
import { listWaitingRetries } from "./waiting.ts";

/** What the writing worker does, by name. Each is synchronous and runs within a transaction. */
export const WRITES = {
	acceptInvitation,
	acquireLeases,
	appendAudit,
	appendEvents,
	appendTestEvent,
	createAccount,
	createApiKey,
	createFirstAccount,
	createInvitation,
	createLink,
	createProject,
	createSession,
	createWebhook,
	deleteApiKey,
	deleteInvitation,
	deleteSession,
	deleteSessions,
	deleteWebhook,
	initSetting,
	pingWriter,
	releaseLease,
	removeMember,
	renameAccount,
	renameProject,
	renewLeases,
	replayDelivery,
	replayFailed,
	replayMatching,
	rotateSecret,
	setDeveloperApp,
	setPassword,
	setRole,
	settle,
	sweepAttempts,
	sweepEvents,
	sweepExpired,
	touchApiKeys,
	touchSession,
	updateWebhook,
	useSignInLink,
};

/** What the reading worker does, by name. Each sees one state of the database, the newest committed one. */
export const READS = {
	countAttempts,
	countMatching,
	findApiKey,
	findCredentials,
	findEvent,
	findInvitation,
	findSession,
	getAccount,
	getAttempt,
	getCredentials,
	getDelivery,
	getProject,
	getRole,
	getSetting,
	getWebhook,
	hasAccounts,
	listApiKeys,
	listAttemptSummaries,
	listAttempts,
	listAudit,
	listInvitations,
	listMembers,
	listMemberships,
	listProjects,
	listSessions,
	listWaitingRetries,
	listWebhooks,
	loadLanes,
	nextAlarm,
	pingReader,
	readBacklogs,
	readEvents,
	readGauges,
	readHealth,
	readLog,
	readRetries,
	readStats,
};

export type Writes = typeof WRITES;
export type Reads = typeof READS;

/** Writes a row, so that the disk is asked. */
function pingWriter(c: Connection): void {
	c.sql(
		"INSERT INTO settings (name, value) VALUES ('ping', '1') ON CONFLICT (name) DO UPDATE SET value = 1 - value",
	).run();
}

function pingReader(c: Connection): void {
	c.sql("SELECT value FROM settings WHERE name = 'ping'").get();
}
