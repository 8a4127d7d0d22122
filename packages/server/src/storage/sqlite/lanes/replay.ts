import type {
	AttemptStatus,
	CountedPage,
	MatchingReplays,
	Params,
	ReplayedPage,
	ReplayResult,
	RetryQueue,
	TestEventResult,
} from "../../port.ts";
import { countedPage, replayRange, statusOf, toAttemptId } from "../../shared/deliveries.ts";
import type { Connection } from "../connection/connection.ts";
import { walkAttempts } from "../history/attempt-ranges.ts";
import { newestAttempt, progressOf } from "../history/attempts.ts";
import type { LeaseTime } from "../leases/leases.ts";
import { findEventPosition } from "../log/log.ts";
import { addToCounters, hasRetry, liveWebhook, putRetry, ringForChange } from "./lanes.ts";

export function appendTestEvent(
	c: Connection,
	{ projectId, webhookId, event }: Params<"appendTestEvent">,
	{ now }: LeaseTime,
): TestEventResult {
	const project = c.names.project(projectId);
	const webhook = project === null ? null : liveWebhook(c, project, webhookId);
	if (project === null || webhook === null) return "no_webhook";
	const type = c.names.internType(event.type);
	const subscribed = c.sql("SELECT 1 FROM subscriptions WHERE webhook_no = ? AND type = ?").get(webhook, type);
	if (subscribed === undefined) return "not_subscribed";
	const seq = c
		.sql("UPDATE projects SET last_test_seq = last_test_seq - 1 WHERE no = ? RETURNING last_test_seq AS seq")
		.get(project)!.seq as number;
	c.sql(`
		INSERT INTO events (project_no, seq, id, type, created_at, published_at, body) VALUES (?, ?, ?, ?, ?, ?, ?)`).run(
		project,
		seq,
		event.id,
		type,
		event.createdAt,
		now,
		event.body,
	);
	const waiting = putRetry(c, project, webhook, { seq, queue: "requested", replay: 0, attempt: 1, dueAt: now });
	addToCounters(c, webhook, waiting, 0);
	ringForChange(c, project);
	return "queued";
}

export function replayDelivery(
	c: Connection,
	{ projectId, webhookId, eventId, at }: Params<"replayDelivery">,
): ReplayResult {
	const project = c.names.project(projectId);
	const webhook = project === null ? null : c.names.webhook(project, webhookId);
	const event = project === null ? null : findEventPosition(c, project, eventId);
	if (project === null || webhook === null || event === null) return { kind: "no_delivery" };
	const state = progressOf(c, project, webhook, event);
	if (state === null) return { kind: "no_delivery" };
	if (state.kind !== "ended") return { kind: "attempting" };
	beginSeries(c, project, webhook, "requested", event.seq, state.replay + 1, at);
	addToCounters(c, webhook, 1, event.seq > 0 && state.status === "failed" && !state.dismissed ? -1 : 0);
	ringForChange(c, project);
	return { kind: "queued", replay: state.replay + 1 };
}

function beginSeries(
	c: Connection,
	projectNo: number,
	webhookNo: number,
	queue: RetryQueue,
	seq: number,
	replay: number,
	at: number,
) {
	putRetry(c, projectNo, webhookNo, { seq, queue, replay, attempt: 1, dueAt: at });
}

/** A delivery by its newest attempt. */
interface Chosen {
	readonly webhook: number;
	readonly seq: number;
	readonly replay: number;
	readonly status: AttemptStatus;
	readonly type: number;
	readonly startedAt: number;
}

/** Begins a new series for the deliveries of one step. */
export function replayMatching(c: Connection, p: MatchingReplays): ReplayedPage {
	const project = c.names.project(p.projectId);
	if (project === null) return { count: 0, next: null };
	const { chosen, next } = choose(c, project, p);
	for (const { webhook, seq, replay, status } of chosen) {
		beginSeries(c, project, webhook, "replay", seq, replay + 1, p.at);
		addToCounters(c, webhook, 1, status === "failed" ? -1 : 0);
	}
	if (chosen.length > 0) ringForChange(c, project);
	return { count: chosen.length, next };
}

/** The same step, only counted. */
export function countMatching(c: Connection, p: MatchingReplays): CountedPage {
	const project = c.names.project(p.projectId);
	if (project === null) return countedPage([], null);
	const { chosen, next } = choose(c, project, p);
	const named = chosen.map(({ webhook, type, startedAt }) => ({
		...{ webhookId: c.names.webhookId(webhook), eventType: c.names.typeName(type), startedAt },
	}));
	return countedPage(named, next);
}

/** Scanned attempts that are the newest of an ended delivery of an existing webhook, without test events. */
function choose(c: Connection, project: number, p: MatchingReplays): { chosen: Chosen[]; next: string | null } {
	const { selection, limit } = p;
	const columns = "type, started_at, webhook_no, seq, replay, attempt, status";
	const { rows, end } = walkAttempts(c, project, selection, replayRange(p), { columns, order: "ASC", limit });
	const chosen: Chosen[] = [];
	for (const row of rows) {
		const [webhook, seq, replay] = [row.webhook_no as number, row.seq as number, row.replay as number];
		if (seq < 0) continue;
		const newest = newestAttempt(c, project, webhook, seq);
		if (newest?.replay !== replay || newest.attempt !== row.attempt || newest.dismissed) continue;
		if (hasRetry(c, project, webhook, seq) || !hasLane(c, webhook)) continue;
		const [type, startedAt] = [row.type as number, row.started_at as number];
		chosen.push({ webhook, seq, replay, status: statusOf(row.status), type, startedAt });
	}
	const last = rows.length < limit ? end : rows.at(-1)!.id;
	return { chosen, next: last === null ? null : toAttemptId(last) };
}

/** A deleted webhook has no lane. */
function hasLane(c: Connection, webhook: number): boolean {
	return c.sql("SELECT 1 FROM lanes WHERE webhook_no = ?").get(webhook) !== undefined;
}
