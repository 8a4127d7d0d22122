import { MAX_FAILED_IN_A_ROW, MAX_TESTS_WAITING } from "../../port/history.ts";
import type { Params, WebhookHealth } from "../../port.ts";
import { type IdRange, idRange, MAX_PASSED, QUEUE_CODE, STATUS_CODE } from "../../shared/deliveries.ts";
import { IS_CLOSING } from "../../shared/stats.ts";
import type { Connection } from "../connection/connection.ts";
import { readSummary } from "./attempts.ts";
import { countBetween } from "./stats.ts";

/** A position in the log: a row and its stored id. */
interface LogPosition {
	readonly no: number;
	readonly id: string;
}

/** A range of `attempts_by_webhook`: the attempts of one webhook, status and type, by id. */
interface Kind {
	readonly status: number;
	readonly type: number;
}

type WebhookRow = {
	readonly no: number;
	readonly id: string;
	readonly retries_waiting: number;
	readonly dead_letters: number;
};

export function readHealth(c: Connection, p: Params<"readHealth">): WebhookHealth[] {
	const { projectId, since, until, webhookIds } = p;
	const only = webhookIds === undefined ? "" : "AND w.id IN (SELECT value FROM json_each(?))";
	const project = c.names.project(projectId);
	const tests = countTests(c, project);
	const find = `
		SELECT w.no, w.id, l.retries_waiting, l.dead_letters FROM webhooks w JOIN lanes l ON l.webhook_no = w.no
		WHERE w.project_no = ? AND w.deleted_at IS NULL ${only} ORDER BY w.id`;
	const ids = webhookIds === undefined ? [] : [JSON.stringify(webhookIds)];
	return c.rows<WebhookRow>(find, project, ...ids).map(({ no, id, retries_waiting, dead_letters }) => ({
		webhookId: id,
		...readOutcomes(c, no, idRange({ until })),
		recent: countBetween(c, no, since, until),
		waiting: { count: retries_waiting, tests: tests.get(no) ?? 0, nextAt: nextDue(c, no) },
		deadLetters: dead_letters,
	}));
}

function readOutcomes(
	c: Connection,
	webhook: number,
	range: IdRange,
): Pick<WebhookHealth, "lastAttempt" | "failingSince" | "failedInARow" | "lastDeliveredAt"> {
	const kinds = kindsOf(c, webhook);
	const { successes = [], others = [] } = Object.groupBy(kinds, ({ status }) =>
		status === STATUS_CODE.delivered ? "successes" : "others",
	);
	const delivered = newest(read(c, webhook, successes, range, "DESC", 1));
	// All attempts after the last success failed. Among very many tests, only one end may be found.
	const behind = { ...range, from: delivered === null ? "" : `${delivered.id} ` };
	const failed = read(c, webhook, others, behind, "ASC", MAX_FAILED_IN_A_ROW).sort(byId);
	const last = newest(read(c, webhook, others, behind, "DESC", 1));
	const [failingSince, lastAttempt] = [failed[0] ?? last, last ?? failed.at(-1) ?? delivered];
	const deliveredAt = newest(lastOf(c, webhook, successes, range));
	return {
		lastAttempt: lastAttempt && readSummary(c, lastAttempt.no),
		failingSince: failingSince && readSummary(c, failingSince.no),
		failedInARow: Math.min(Math.max(failed.length, last === null ? 0 : 1), MAX_FAILED_IN_A_ROW),
		lastDeliveredAt: deliveredAt && readSummary(c, deliveredAt.no).startedAt,
	};
}

/** The nonempty ranges, each found from the previous one by a single step in the index. */
function kindsOf(c: Connection, webhook: number): Kind[] {
	const next = "SELECT type FROM attempts WHERE webhook_no = ? AND status = ? AND type > ? ORDER BY type LIMIT 1";
	return Object.values(STATUS_CODE).flatMap((status) => {
		const kinds: Kind[] = [];
		for (let type: number | undefined = 0; type !== undefined; ) {
			type = c.row<{ type: number }>(next, webhook, status, type)?.type;
			if (type !== undefined) kinds.push({ status, type });
		}
		return kinds;
	});
}

function lastOf(c: Connection, webhook: number, kinds: readonly Kind[], { to }: IdRange): LogPosition[] {
	const last =
		"SELECT no, id FROM attempts WHERE webhook_no = ? AND status = ? AND type = ? AND id < ? ORDER BY id DESC LIMIT 1";
	return kinds.flatMap(({ status, type }) => c.rows<LogPosition>(last, webhook, status, type, to));
}

/** The first or last attempts of each kind in a range, without tests and closings: at most `limit` of each. */
function read(
	c: Connection,
	webhook: number,
	kinds: readonly Kind[],
	{ from, to }: IdRange,
	order: "ASC" | "DESC",
	limit: number,
): LogPosition[] {
	const ofKind = `
		SELECT no, id, seq > 0 AND NOT coalesce(${IS_CLOSING}, 0) AS counts FROM attempts
		WHERE webhook_no = ? AND status = ? AND type = ? AND id >= ? AND id < ? ORDER BY id ${order} LIMIT ${MAX_PASSED}`;
	return kinds.flatMap(({ status, type }) => {
		const found: LogPosition[] = [];
		// Reads no further than to the last one that it needs.
		for (const { counts, ...row } of c.each<CountedPosition>(ofKind, webhook, status, type, from, to)) {
			if (counts === 1) found.push(row);
			if (found.length === limit) break;
		}
		return found;
	});
}

type CountedPosition = LogPosition & { readonly counts: number };

const byId = (a: LogPosition, b: LogPosition): number => (a.id < b.id ? -1 : 1);
const newest = (positions: readonly LogPosition[]): LogPosition | null => positions.toSorted(byId).at(-1) ?? null;

/** Pending attempts of test events, which have negative numbers, by webhook. */
function countTests(c: Connection, project: number | null): ReadonlyMap<number, number> {
	const counts = new Map<number, number>();
	const tests = `SELECT webhook_no FROM retries WHERE project_no = ? AND seq < 0 ORDER BY seq LIMIT ${MAX_TESTS_WAITING}`;
	for (const { webhook_no } of c.each<{ webhook_no: number }>(tests, project))
		counts.set(webhook_no, (counts.get(webhook_no) ?? 0) + 1);
	return counts;
}

function nextDue(c: Connection, webhook: number): number | null {
	const first = "SELECT min(due_at) AS at FROM retries WHERE webhook_no = ? AND queue = ?";
	const times = Object.values(QUEUE_CODE)
		.map((queue) => c.row<{ at: number | null }>(first, webhook, queue)!.at)
		.filter((at) => at !== null);
	return times.length === 0 ? null : Math.min(...times);
}
