import type {
	AttemptStatus,
	CountedPage,
	MatchingReplays,
	Params,
	ReplayedPage,
	ReplayFilter,
	ReplayResult,
	ReplaySelection,
	RetryQueue,
	TestEventResult,
} from "../../port.ts";
import {
	countedPage,
	type IdRange,
	idRange,
	STATUS_CODE,
	statusOf,
	toAttemptId,
	toStoredId,
} from "../../shared/deliveries.ts";
import { type Connection, mergedRanges } from "../connection/connection.ts";
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

/** Scans up to `limit` failed attempts, and skips test events and those whose delivery has continued since. */
export function replayFailed(
	c: Connection,
	{ projectId, webhookId, filter, at, limit, after }: Params<"replayFailed">,
): { count: number; next: string | null } {
	const project = c.names.project(projectId);
	const webhook = project === null ? null : liveWebhook(c, project, webhookId);
	if (project === null || webhook === null) return { count: 0, next: null };
	const failed = readFailed(c, webhook, filter, limit, after);
	let count = 0;
	for (const { seq, replay, attempt } of failed) {
		if (seq < 0) continue;
		const newest = newestAttempt(c, project, webhook, seq);
		if (newest?.replay !== replay || newest.attempt !== attempt || newest.dismissed) continue;
		if (hasRetry(c, project, webhook, seq)) continue;
		beginSeries(c, project, webhook, "replay", seq, replay + 1, at);
		count++;
	}
	if (count > 0) {
		addToCounters(c, webhook, count, -count);
		ringForChange(c, project);
	}
	const last = failed.at(-1);
	return { count, next: last === undefined || failed.length < limit ? null : toAttemptId(last.id) };
}

interface FailedAttempt {
	readonly id: string;
	readonly seq: number;
	readonly replay: number;
	readonly attempt: number;
}

function readFailed(
	c: Connection,
	webhookNo: number,
	filter: ReplayFilter,
	limit: number,
	after: string | undefined,
): FailedAttempt[] {
	const types = c.names.allTypes();
	if (types.length === 0) return [];
	const ranges = types.map(
		(type) => `
			SELECT id, seq, replay, attempt FROM attempts
			WHERE webhook_no = ?1 AND status = ${STATUS_CODE.failed} AND type = ${type} AND id > ?2 AND id >= ?3 AND id < ?4`,
	);
	const { from, to } = idRange(filter);
	return c
		.sql(mergedRanges(ranges, "id"))
		.all(webhookNo, after === undefined ? "" : toStoredId(after), from, to, limit)
		.map((row) => row as unknown as FailedAttempt);
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
export function replayMatching(
	c: Connection,
	{ projectId, selection, at, limit, after }: MatchingReplays,
): ReplayedPage {
	const project = c.names.project(projectId);
	if (project === null) return { count: 0, next: null };
	const { chosen, next } = choose(c, project, selection, at, limit, after);
	for (const { webhook, seq, replay, status } of chosen) {
		beginSeries(c, project, webhook, "replay", seq, replay + 1, at);
		addToCounters(c, webhook, 1, status === "failed" ? -1 : 0);
	}
	if (chosen.length > 0) ringForChange(c, project);
	return { count: chosen.length, next };
}

/** The same step, only counted. */
export function countMatching(c: Connection, { projectId, selection, at, limit, after }: MatchingReplays): CountedPage {
	const project = c.names.project(projectId);
	if (project === null) return countedPage([], null);
	const { chosen, next } = choose(c, project, selection, at, limit, after);
	const named = chosen.map(({ webhook, type, startedAt }) => ({
		...{ webhookId: c.names.webhookId(webhook), eventType: c.names.typeName(type), startedAt },
	}));
	return countedPage(named, next);
}

/** Scanned attempts that are the newest of an ended delivery of an existing webhook, without test events. */
function choose(
	c: Connection,
	project: number,
	selection: ReplaySelection,
	at: number,
	limit: number,
	after: string | undefined,
): { chosen: Chosen[]; next: string | null } {
	const columns = "type, started_at, webhook_no, seq, replay, attempt, status";
	const range = rangeOf(selection, at, after);
	const { rows, end } = walkAttempts(c, project, selection, range, { columns, order: "ASC", limit });
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

function rangeOf(selection: ReplaySelection, at: number, after: string | undefined): IdRange {
	const { from, to } = idRange({ since: selection.since, until: Math.min(selection.until ?? at, at) });
	if (after === undefined) return { from, to };
	// Sorts after this id and before every other.
	const behind = `${toStoredId(after)} `;
	return { from: behind > from ? behind : from, to };
}

/** A deleted webhook has no lane. */
function hasLane(c: Connection, webhook: number): boolean {
	return c.sql("SELECT 1 FROM lanes WHERE webhook_no = ?").get(webhook) !== undefined;
}
