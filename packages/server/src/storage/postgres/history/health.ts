import type { AttemptSummary, Params, WebhookHealth } from "../../port.ts";
import { MAX_TESTS_PASSED, QUEUE_CODE, STATUS_CODE } from "../../shared/deliveries.ts";
import { findProject } from "../connection/names.ts";
import type { Row, Session } from "../connection/session.ts";
import { sql } from "../connection/session.ts";
import { summariesAt, toSummary } from "./attempts.ts";

const nextOf = (queue: number) => `
	(
		SELECT due_at FROM posthorn.retries WHERE project_no = $1 AND webhook_no = w.no AND queue = ${queue}
		ORDER BY due_at, seq LIMIT 1
	)`;

const WEBHOOKS = sql(`
	SELECT w.id, l.retries_waiting, l.dead_letters,
		least(${Object.values(QUEUE_CODE).map(nextOf).join(", ")}) AS next_at
	FROM posthorn.webhooks w JOIN posthorn.lanes l ON l.project_no = w.project_no AND l.webhook_no = w.no
	WHERE w.project_no = $1 AND w.deleted_at IS NULL ORDER BY w.id`);

/** The next range of `attempts_by_webhook`: one step in the index of each day. */
const nextKind = (webhook: string, behind: string) => `
	SELECT status, type FROM posthorn.attempts
	WHERE project_no = $1 AND webhook_no = ${webhook} AND (status, type) > ${behind}
	ORDER BY status, type LIMIT 1`;

/** A range from one of its ends, or from an id. */
const ofKind = (columns: string, behind: string, order: "ASC" | "DESC", limit: number) => `
	SELECT ${columns} FROM posthorn.attempts
	WHERE project_no = $1 AND webhook_no = kind.webhook_no AND status = kind.status AND type = kind.type ${behind}
	ORDER BY id ${order} LIMIT ${limit}`;

/** The first or last failed attempt of a range after the delivered one, without those of test events. */
const failedOfKind = (order: "ASC" | "DESC") => `
	SELECT id FROM (${ofKind("id, seq", "AND id > coalesce(d.id, '')", order, MAX_TESTS_PASSED)}) failed
	WHERE seq > 0 ORDER BY id ${order} LIMIT 1`;

/**
 * The attempts that determine each webhook's health: its last delivered one, and the first and last failures after it.
 */
const DECIDING = sql(
	summariesAt(
		`
		WITH RECURSIVE kind (webhook_no, status, type) AS (
			SELECT w.no, first.status, first.type
			FROM posthorn.webhooks w CROSS JOIN LATERAL (${nextKind("w.no", "(0::smallint, 0)")}) first
			WHERE w.project_no = $1 AND w.deleted_at IS NULL
			UNION ALL
			SELECT kind.webhook_no, next.status, next.type
			FROM kind CROSS JOIN LATERAL (${nextKind("kind.webhook_no", "(kind.status, kind.type)")}) next
		), delivered AS MATERIALIZED (
			SELECT DISTINCT ON (kind.webhook_no) kind.webhook_no, kind.status, kind.type, a.id
			FROM kind CROSS JOIN LATERAL (${ofKind("id", "", "DESC", 1)}) a
			WHERE kind.status = ${STATUS_CODE.delivered}
			ORDER BY kind.webhook_no, a.id DESC
		), other AS MATERIALIZED (
			-- Among very many tests, only one of the two may be found.
			SELECT kind.webhook_no, kind.status, kind.type, coalesce(first.id, last.id) AS first_id,
				coalesce(last.id, first.id) AS last_id
			FROM kind
				LEFT JOIN delivered d ON d.webhook_no = kind.webhook_no
				LEFT JOIN LATERAL (${failedOfKind("ASC")}) first ON true
				LEFT JOIN LATERAL (${failedOfKind("DESC")}) last ON true
			WHERE kind.status <> ${STATUS_CODE.delivered} AND coalesce(first.id, last.id) IS NOT NULL
		)
		SELECT status, type, id, 'delivered' AS deciding FROM delivered
		UNION ALL
		(SELECT DISTINCT ON (webhook_no) status, type, first_id, 'failing since' FROM other ORDER BY webhook_no, first_id)
		UNION ALL
		(SELECT DISTINCT ON (webhook_no) status, type, last_id, 'last' FROM other ORDER BY webhook_no, last_id DESC)`,
		", entry.deciding",
	),
);

/** From one state of the database. */
export async function readHealth(c: Session, { projectId }: Params<"readHealth">): Promise<WebhookHealth[]> {
	const project = await findProject(c, projectId);
	if (project === null) return [];
	const [webhooks, rows] = await Promise.all([c.rows(WEBHOOKS, project), c.rows(DECIDING, project)]);
	const deciding = new Map(rows.map((row) => [`${row.deciding} ${row.webhook_id}`, row]));
	const summary = (kind: string, webhookId: string): AttemptSummary | null => {
		const row: Row | undefined = deciding.get(`${kind} ${webhookId}`);
		return row === undefined ? null : toSummary(row);
	};
	return webhooks.map((row) => {
		const webhookId = row.id as string;
		const delivered = summary("delivered", webhookId);
		return {
			webhookId,
			lastAttempt: summary("last", webhookId) ?? delivered,
			failingSince: summary("failing since", webhookId),
			lastDeliveredAt: delivered?.startedAt ?? null,
			waiting: {
				count: row.retries_waiting as number,
				nextAt: row.next_at === null ? null : c.offset.toNode(row.next_at as number),
			},
			deadLetters: row.dead_letters as number,
		};
	});
}
