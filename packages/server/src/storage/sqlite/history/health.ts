import type { Params, WebhookHealth } from "../../port.ts";
import { MAX_TESTS_PASSED, QUEUE_CODE, STATUS_CODE } from "../../shared/deliveries.ts";
import type { Connection } from "../connection/connection.ts";
import { readSummary } from "./attempts.ts";

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

export function readHealth(c: Connection, { projectId }: Params<"readHealth">): WebhookHealth[] {
	return c
		.sql(`
			SELECT w.no, w.id, l.retries_waiting, l.dead_letters FROM webhooks w JOIN lanes l ON l.webhook_no = w.no
			WHERE w.project_no = ? AND w.deleted_at IS NULL ORDER BY w.id`)
		.all(c.names.project(projectId))
		.map((row) => {
			const webhook = row.no as number;
			return {
				webhookId: row.id as string,
				...readOutcomes(c, webhook),
				waiting: { count: row.retries_waiting as number, nextAt: nextDue(c, webhook) },
				deadLetters: row.dead_letters as number,
			};
		});
}

function readOutcomes(
	c: Connection,
	webhook: number,
): Pick<WebhookHealth, "lastAttempt" | "failingSince" | "lastDeliveredAt"> {
	const kinds = kindsOf(c, webhook);
	const others = kinds.filter(({ status }) => status !== STATUS_CODE.delivered);
	const delivered = lastOf(
		c,
		webhook,
		kinds.filter(({ status }) => status === STATUS_CODE.delivered),
	);
	// All attempts after the last success failed. Among very many tests, only one of the two may be found.
	const behind = delivered?.id ?? "";
	const [first, last] = [
		failedBehind(c, webhook, others, behind, "ASC"),
		failedBehind(c, webhook, others, behind, "DESC"),
	];
	const [failingSince, lastAttempt] = [first ?? last, last ?? first ?? delivered];
	return {
		lastAttempt: lastAttempt === null ? null : readSummary(c, lastAttempt.no),
		failingSince: failingSince === null ? null : readSummary(c, failingSince.no),
		lastDeliveredAt: delivered === null ? null : readSummary(c, delivered.no).startedAt,
	};
}

/** The nonempty ranges, each found from the previous one by a single step in the index. */
function kindsOf(c: Connection, webhook: number): Kind[] {
	const next = c.sql(
		"SELECT type FROM attempts WHERE webhook_no = ? AND status = ? AND type > ? ORDER BY type LIMIT 1",
	);
	return Object.values(STATUS_CODE).flatMap((status) => {
		const kinds: Kind[] = [];
		for (let row = next.get(webhook, status, 0); row !== undefined; row = next.get(webhook, status, kinds.at(-1)!.type))
			kinds.push({ status, type: row.type as number });
		return kinds;
	});
}

function lastOf(c: Connection, webhook: number, kinds: readonly Kind[]): LogPosition | null {
	const last = c.sql(
		"SELECT no, id FROM attempts WHERE webhook_no = ? AND status = ? AND type = ? ORDER BY id DESC LIMIT 1",
	);
	const positions = kinds.map(({ status, type }) => last.get(webhook, status, type) as LogPosition | undefined);
	return positions.reduce<LogPosition | null>(
		(best, position) => (position && (!best || position.id > best.id) ? position : best),
		null,
	);
}

/** The first or last failed attempt after an id, without those of test events. */
function failedBehind(
	c: Connection,
	webhook: number,
	kinds: readonly Kind[],
	after: string,
	order: "ASC" | "DESC",
): LogPosition | null {
	const end = c.sql(`
		SELECT no, id FROM (
			SELECT no, id, seq FROM attempts WHERE webhook_no = ? AND status = ? AND type = ? AND id > ?
			ORDER BY id ${order} LIMIT ${MAX_TESTS_PASSED}
		)
		WHERE seq > 0 ORDER BY id ${order} LIMIT 1`);
	const positions = kinds.map(({ status, type }) => end.get(webhook, status, type, after) as LogPosition | undefined);
	return positions.reduce<LogPosition | null>(
		(best, position) =>
			position && (!best || (order === "ASC" ? position.id < best.id : position.id > best.id)) ? position : best,
		null,
	);
}

function nextDue(c: Connection, webhook: number): number | null {
	const first = c.sql("SELECT min(due_at) AS at FROM retries WHERE webhook_no = ? AND queue = ?");
	const times = Object.values(QUEUE_CODE)
		.map((queue) => first.get(webhook, queue)?.at as number | null)
		.filter((at) => at !== null);
	return times.length === 0 ? null : Math.min(...times);
}
