import { appendEvents } from "./append.ts";
import { countAttempts, listAttemptSummaries } from "./attempt-list.ts";
import { readBacklogs } from "./backlog.ts";
import type { Connection } from "./connection.ts";
import { abandonBaskets, nextBasketDue, removeBasket, takeDueBaskets, touchBasket } from "./facts-baskets.ts";
import { recordChargeback, recordDeliverable, recordRefund } from "./facts-of-orders.ts";
import { getOrder, recordOrders } from "./facts-orders.ts";
import { cancelSubscription, getSubscription, recordSubscription } from "./facts-subscriptions.ts";
import { readGauges } from "./gauges.ts";
import { forgetHandedOver, settleHandedOver } from "./handover.ts";
import { readHealth } from "./health.ts";
import { getAttempt, getDelivery, listAttempts } from "./history.ts";
import { endDeletion, loadLanes, readRetries } from "./lanes.ts";
import { acquireLeases, nextAlarm, releaseLease, renewLeases } from "./leases.ts";
import { findEvent, readEvents, readLog, readLogEnd } from "./log.ts";
import { type AppendAnswer, type AppendBatch, packResults, unpackAppends } from "./log-wire.ts";
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
import { settle } from "./settle.ts";
import { readStats } from "./stats.ts";
import { listWaitingRetries } from "./waiting.ts";

/** What the writing worker does, by name. Each is synchronous and runs within a transaction. */
export const WRITES = {
	abandonBaskets,
	acquireLeases,
	appendEvents: (c: Connection, batch: AppendBatch): AppendAnswer => packResults(appendEvents(c, unpackAppends(batch))),
	appendTestEvent,
	cancelSubscription,
	createProject,
	createWebhook,
	deleteWebhook,
	endDeletion,
	forgetHandedOver,
	pingWriter,
	recordChargeback,
	recordDeliverable,
	recordOrders,
	recordRefund,
	recordSubscription,
	releaseLease,
	removeBasket,
	renameProject,
	renewLeases,
	replayDelivery,
	replayFailed,
	replayMatching,
	rotateSecret,
	setDeveloperApp,
	settle,
	settleHandedOver,
	sweepAttempts,
	sweepEvents,
	takeDueBaskets,
	touchBasket,
	updateWebhook,
};

/** What the reading worker does, by name. Each sees one state of the database, the newest committed one. */
export const READS = {
	countAttempts,
	countMatching,
	findEvent,
	getAttempt,
	getDelivery,
	getOrder,
	getProject,
	getSubscription,
	getWebhook,
	listAttemptSummaries,
	listAttempts,
	listProjects,
	listWaitingRetries,
	listWebhooks,
	loadLanes,
	nextAlarm,
	nextBasketDue,
	pingReader,
	readBacklogs,
	readEvents,
	readGauges,
	readHealth,
	readLog,
	readLogEnd,
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
