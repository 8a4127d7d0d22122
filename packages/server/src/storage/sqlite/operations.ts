import { appendEvents } from "./append.ts";
import { readBacklogs } from "./backlog.ts";
import type { Connection } from "./connection.ts";
import { readGauges } from "./gauges.ts";
import { getAttempt, getDelivery, listAttempts } from "./history.ts";
import { createApiKey, deleteApiKey, findApiKey, getSetting, initSetting, listApiKeys, touchApiKeys } from "./keys.ts";
import { loadLanes, readRetries } from "./lanes.ts";
import { acquireLeases, nextAlarm, releaseLease, renewLeases } from "./leases.ts";
import { findEvent, readEvents, readLog } from "./log.ts";
import {
	createProject,
	createWebhook,
	deleteWebhook,
	getProject,
	getWebhook,
	listProjects,
	listWebhooks,
	rotateSecret,
	setDeveloperApp,
	updateWebhook,
} from "./registry.ts";
import { appendTestEvent, replayDelivery, replayFailed } from "./replay.ts";
import { sweepAttempts, sweepEvents } from "./retention.ts";
import { settle } from "./settle.ts";

/** What the writing worker does, by name. Each is synchronous and runs within a transaction. */
export const WRITES = {
	acquireLeases,
	appendEvents,
	appendTestEvent,
	createApiKey,
	createProject,
	createWebhook,
	deleteApiKey,
	deleteWebhook,
	initSetting,
	pingWriter,
	releaseLease,
	renewLeases,
	replayDelivery,
	replayFailed,
	rotateSecret,
	setDeveloperApp,
	settle,
	sweepAttempts,
	sweepEvents,
	touchApiKeys,
	updateWebhook,
};

/** What the reading worker does, by name. Each sees one state of the database, the newest committed one. */
export const READS = {
	findApiKey,
	findEvent,
	getAttempt,
	getDelivery,
	getProject,
	getSetting,
	getWebhook,
	listApiKeys,
	listAttempts,
	listProjects,
	listWebhooks,
	loadLanes,
	nextAlarm,
	pingReader,
	readBacklogs,
	readEvents,
	readGauges,
	readLog,
	readRetries,
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
