import type { AttemptStatus, MatchingReplays, ReplayedPage, ReplaySelection } from "../../port.ts";
import { statusOf, toAttemptId, toStoredId } from "../../shared/attempt-codes.ts";
import { idRange } from "../../shared/id-range.ts";
import type { Connection } from "../connection/connection.ts";
import { type IdRange, walkAttempts } from "../history/attempt-ranges.ts";
import { isQueued, newestAttempt } from "../history/delivery.ts";
import { addToCounters } from "../lanes/retries.ts";
import { ringForChange } from "../leases/alarm.ts";
import { beginSeries } from "./replay.ts";

/** A delivery by its newest attempt. */
interface Chosen {
	readonly webhook: number;
	readonly seq: number;
	readonly replay: number;
	readonly status: AttemptStatus;
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
export function countMatching(
	c: Connection,
	{ projectId, selection, at, limit, after }: MatchingReplays,
): ReplayedPage {
	const project = c.names.project(projectId);
	if (project === null) return { count: 0, next: null };
	const { chosen, next } = choose(c, project, selection, at, limit, after);
	return { count: chosen.length, next };
}

/** Scanned attempts that are the newest of an ended delivery of an existing webhook. */
function choose(
	c: Connection,
	project: number,
	selection: ReplaySelection,
	at: number,
	limit: number,
	after: string | undefined,
): { chosen: Chosen[]; next: string | null } {
	const columns = "webhook_no, seq, replay, attempt, status";
	const range = rangeOf(selection, at, after);
	const { rows, end } = walkAttempts(c, project, selection, range, { columns, order: "ASC", limit });
	const chosen: Chosen[] = [];
	for (const row of rows) {
		const [webhook, seq, replay] = [row.webhook_no as number, row.seq as number, row.replay as number];
		const newest = newestAttempt(c, project, webhook, seq);
		if (newest?.replay !== replay || newest.attempt !== row.attempt) continue;
		if (isQueued(c, project, webhook, seq) || !hasLane(c, webhook)) continue;
		chosen.push({ webhook, seq, replay, status: statusOf(row.status) });
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
