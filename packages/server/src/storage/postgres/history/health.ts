import { MAX_FAILED_IN_A_ROW, MAX_TESTS_WAITING } from "../../port/history.ts";
import type { AttemptSummary, Params, WebhookHealth } from "../../port.ts";
import { idRange, MAX_PASSED, QUEUE_CODE, STATUS_CODE } from "../../shared/deliveries.ts";
import { CLOSED, IS_CLOSING, MINUTE } from "../../shared/stats.ts";
import { findProject, named } from "../connection/names.ts";
import { type Row, type Session, sql } from "../connection/session.ts";
import { summariesAt, toSummary } from "./attempts.ts";

const nextOf = (queue: number) => `
	(
		SELECT due_at FROM posthorn.retries WHERE project_no = $project AND webhook_no = w.no AND queue = ${queue}
		ORDER BY due_at, seq LIMIT 1
	)`;

/** Whether a webhook is among `$webhookIds`, which is null for all. */
const WANTED = "($webhookIds::text[] IS NULL OR w.id = ANY ($webhookIds))";

/** Test events have negative numbers. */
const WEBHOOKS = sql(`
	WITH test AS MATERIALIZED (
		SELECT webhook_no FROM posthorn.retries WHERE project_no = $project AND seq < 0 ORDER BY seq LIMIT ${MAX_TESTS_WAITING}
	)
	SELECT w.id, l.retries_waiting, l.dead_letters,
		(SELECT count(*)::integer FROM test WHERE test.webhook_no = w.no) AS tests,
		least(${Object.values(QUEUE_CODE).map(nextOf).join(", ")}) AS next_at
	FROM posthorn.webhooks w JOIN posthorn.lanes l ON l.project_no = w.project_no AND l.webhook_no = w.no
	WHERE w.project_no = $project AND w.deleted_at IS NULL AND ${WANTED} ORDER BY w.id`);

/** The next range of `attempts_by_webhook`: one step in the index of each day. */
const nextKind = (webhook: string, behind: string) => `
	SELECT status, type FROM posthorn.attempts
	WHERE project_no = $project AND webhook_no = ${webhook} AND (status, type) > ${behind}
	ORDER BY status, type LIMIT 1`;

/** A range from one of its ends, or from an id, up to `$until`. */
const ofKind = (columns: string, behind: string, order: "ASC" | "DESC", limit: number) => `
	SELECT ${columns} FROM posthorn.attempts
	WHERE project_no = $project AND webhook_no = kind.webhook_no AND status = kind.status AND type = kind.type AND id < $until ${behind}
	ORDER BY id ${order} LIMIT ${limit}`;

/** The first or last attempts of a range, without tests and closings. */
const countedOfKind = (after: string, order: "ASC" | "DESC", limit: number) => `
	SELECT id FROM (${ofKind("id, seq, error_code", after, order, MAX_PASSED)}) counted
	WHERE seq > 0 AND NOT coalesce(${IS_CLOSING}, false) ORDER BY id ${order} LIMIT ${limit}`;

/** The failed ones after the delivered one. */
const failedOfKind = (order: "ASC" | "DESC", limit: number) =>
	countedOfKind("AND id > coalesce(d.id, '')", order, limit);

/** The last delivered attempt of each webhook, among the last ones of its ranges. */
const lastDelivered = (last: string) => `
		SELECT DISTINCT ON (kind.webhook_no) kind.webhook_no, kind.status, kind.type, a.id
		FROM kind CROSS JOIN LATERAL (${last}) a
		WHERE kind.status = ${STATUS_CODE.delivered}
		ORDER BY kind.webhook_no, a.id DESC`;

/**
 * The attempts that determine each webhook's health: its last delivered ones with and without tests, and the first and
 * last failures after it.
 */
const DECIDING = sql(
	summariesAt(
		`
		WITH RECURSIVE kind (webhook_no, status, type) AS (
			SELECT w.no, first.status, first.type
			FROM posthorn.webhooks w CROSS JOIN LATERAL (${nextKind("w.no", "(0::smallint, 0)")}) first
			WHERE w.project_no = $project AND w.deleted_at IS NULL AND ${WANTED}
			UNION ALL
			SELECT kind.webhook_no, next.status, next.type
			FROM kind CROSS JOIN LATERAL (${nextKind("kind.webhook_no", "(kind.status, kind.type)")}) next
		), tested AS MATERIALIZED (${lastDelivered(ofKind("id", "", "DESC", 1))}
		), delivered AS MATERIALIZED (${lastDelivered(countedOfKind("", "DESC", 1))}
		), failed AS MATERIALIZED (
			-- Among very many tests, only one end may be found.
			SELECT kind.webhook_no, kind.status, kind.type, coalesce(first.id, last.id) AS first_id,
				coalesce(last.id, first.last_id) AS last_id, greatest(first.n, 1) AS n
			FROM kind
				LEFT JOIN delivered d ON d.webhook_no = kind.webhook_no
				LEFT JOIN LATERAL (
					SELECT min(id) AS id, max(id) AS last_id, count(*) AS n
					FROM (${failedOfKind("ASC", MAX_FAILED_IN_A_ROW)}) firsts
				) first ON true
				LEFT JOIN LATERAL (${failedOfKind("DESC", 1)}) last ON true
			WHERE kind.status <> ${STATUS_CODE.delivered} AND coalesce(first.id, last.id) IS NOT NULL
		)
		SELECT status, type, id, 'tested' AS deciding, 0 AS n FROM tested
		UNION ALL
		SELECT status, type, id, 'delivered', 0 FROM delivered
		UNION ALL
		(
			SELECT DISTINCT ON (webhook_no) status, type, first_id, 'failing since',
				sum(n) OVER (PARTITION BY webhook_no)::integer
			FROM failed ORDER BY webhook_no, first_id
		)
		UNION ALL
		(SELECT DISTINCT ON (webhook_no) status, type, last_id, 'last', 0 FROM failed ORDER BY webhook_no, last_id DESC)`,
		", entry.deciding, entry.n",
	),
);

/** Attempts from `$minute` to `$end`, rolled-up ones and those not yet rolled up, without closings and tests. */
const RECENT = sql(`
	WITH gathered AS MATERIALIZED (
		SELECT one.webhook_no, one.status, count(*) AS n
		FROM posthorn.attempt_counts c CROSS JOIN LATERAL unnest(c.project_no, c.webhook_no, c.minute, c.status, c.class)
			AS one (project_no, webhook_no, minute, status, class)
		WHERE one.project_no = $project AND one.minute >= $minute AND one.minute < $end AND one.class <> ${CLOSED}
		GROUP BY 1, 2
	)
	SELECT w.id, sum(counts.n) FILTER (WHERE counts.status = ${STATUS_CODE.delivered})::bigint AS delivered,
		sum(counts.n) FILTER (WHERE counts.status <> ${STATUS_CODE.delivered})::bigint AS failed
	FROM posthorn.webhooks w CROSS JOIN LATERAL (
		SELECT status, n FROM posthorn.attempt_stats
		WHERE project_no = $project AND (webhook_no, grain, at) >= (w.no, ${MINUTE}, $minute::bigint)
			AND (webhook_no, grain, at) < (w.no, ${MINUTE}, $end::bigint) AND class <> ${CLOSED}
		UNION ALL
		SELECT status, n FROM gathered WHERE webhook_no = w.no
	) counts
	WHERE w.project_no = $project AND w.deleted_at IS NULL AND ${WANTED}
	GROUP BY w.id`);

/** From one state of the database. */
export async function readHealth(
	c: Session,
	{ projectId, since, until = Number.MAX_SAFE_INTEGER, webhookIds }: Params<"readHealth">,
): Promise<WebhookHealth[]> {
	const project = await findProject(c, projectId);
	if (project === null) return [];
	const minutes = { minute: Math.ceil(since / MINUTE), end: Math.ceil(until / MINUTE) };
	const values = { project, webhookIds: webhookIds ?? null };
	const [webhooks, read, counts] = await Promise.all([
		c.rows(WEBHOOKS, values),
		c.rows(DECIDING, { ...values, until: idRange({ until }).to }),
		c.rows(RECENT, { ...values, ...minutes }),
	]);
	const { rows, names } = await named(c, project, read);
	const deciding = new Map(rows.map((row) => [`${row.deciding} ${names(row).webhookId}`, row]));
	const recent = new Map(counts.map((row) => [row.id, row]));
	const summary = (kind: string, webhookId: string): AttemptSummary | null => {
		const row: Row | undefined = deciding.get(`${kind} ${webhookId}`);
		return row === undefined ? null : toSummary(row, names);
	};
	return webhooks.map((row) => {
		const webhookId = row.id as string;
		const failed = (deciding.get(`failing since ${webhookId}`)?.n as number) ?? 0;
		const { delivered, failed: unaccepted } = recent.get(webhookId) ?? {};
		return {
			webhookId,
			lastAttempt: summary("last", webhookId) ?? summary("delivered", webhookId),
			failingSince: summary("failing since", webhookId),
			failedInARow: Math.min(failed, MAX_FAILED_IN_A_ROW),
			recent: { delivered: (delivered as number) ?? 0, failed: (unaccepted as number) ?? 0 },
			lastDeliveredAt: summary("tested", webhookId)?.startedAt ?? null,
			waiting: {
				count: row.retries_waiting as number,
				tests: row.tests as number,
				nextAt: row.next_at === null ? null : c.offset.toNode(row.next_at as number),
			},
			deadLetters: row.dead_letters as number,
		};
	});
}
