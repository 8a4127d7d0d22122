import type { Connection } from "./connection/connection.ts";
import { abandonBaskets, nextBasketDue, removeBasket, takeDueBaskets, touchBasket } from "./facts/baskets.ts";
import { recordChargeback, recordDeliverable, recordRefund } from "./facts/order-facts.ts";
import { getOrder, recordOrders } from "./facts/orders.ts";
import { cancelSubscription, getSubscription, recordSubscription } from "./facts/subscriptions.ts";
import { countAttempts, listAttemptSummaries } from "./history/attempt-list.ts";
import { readHealth } from "./history/health.ts";
import { getAttempt, getDelivery, listAttempts } from "./history/history.ts";
import { readStats } from "./history/stats.ts";
import { readBacklogs } from "./lanes/backlog.ts";
import { readGauges } from "./lanes/gauges.ts";
import { endDeletion, loadLanes, readRetries } from "./lanes/lanes.ts";
import { settle } from "./lanes/settle.ts";
import { listWaitingRetries } from "./lanes/waiting.ts";
import { forgetHandedOver, settleHandedOver } from "./leases/handover.ts";
import { acquireLeases, nextAlarm, releaseLease, renewLeases } from "./leases/leases.ts";
import { appendEvents } from "./log/append.ts";
import { findEvent, readEvents, readLog, readLogEnd } from "./log/log.ts";
import { type AppendAnswer, type AppendBatch, packResults, unpackAppends } from "./log/wire.ts";
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
} from "./registry/registry.ts";
import { appendTestEvent, replayDelivery, replayFailed } from "./replay/replay.ts";
import { countMatching, replayMatching } from "./replay/replay-matching.ts";
import { sweepAttempts, sweepEvents } from "./retention/retention.ts";

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
