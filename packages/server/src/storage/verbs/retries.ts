/** Retries that users make early. The attempt keeps its number and its queue; only its time changes. */
import type { RetriedPage, RetryNowResult, RetryPosition } from "../port/delivery.ts";
import type { WebhookRef } from "../port/registry.ts";
import { QUEUE_CODE } from "../shared/deliveries.ts";
import { fragment, type Query, sql } from "./sql.ts";
import { row, rows, type Steps, toDatabaseTime, together, wake } from "./verb.ts";
import { holdWebhook } from "./webhooks.ts";

const RETRIES = fragment(String(QUEUE_CODE.retry));

/** As a range, so that PostgreSQL takes the primary key without statistics, too. */
const moveRetry = (project: number, webhook: number, seq: number, dueAt: number): Query => sql`
	UPDATE posthorn.retries SET due_at = ${dueAt}
	WHERE project_no = ${project} AND (seq, webhook_no) >= (${seq}, ${webhook})
		AND (seq, webhook_no) <= (${seq}, ${webhook})`;

export function* retryDelivery(
	p: WebhookRef & { readonly eventId: string; readonly at: number },
): Steps<RetryNowResult> {
	const found = yield* holdWebhook(p);
	if (found === null) return { kind: "nothing_waits" };
	const { project, webhook } = found;
	const event = yield* row<{ seq: number }>(sql`
		SELECT seq FROM posthorn.events WHERE project_no = ${project} AND id = ${p.eventId}`);
	if (event === undefined) return { kind: "nothing_waits" };
	const { seq } = event;
	const retry = yield* row<{ attempt: number; replay: number; dueAt: number }>(sql`
		SELECT attempt, replay, due_at AS "dueAt" FROM posthorn.retries
		WHERE project_no = ${project} AND (seq, webhook_no) >= (${seq}, ${webhook})
			AND (seq, webhook_no) <= (${seq}, ${webhook})
		ORDER BY seq, webhook_no LIMIT 1`);
	if (retry === undefined) return { kind: "nothing_waits" };
	const dueAt = yield* toDatabaseTime(p.at);
	// One that is already due may be in flight, and stays as it is.
	if (retry.dueAt > dueAt) yield* together(moveRetry(project, webhook, seq, dueAt), wake(project));
	return { kind: "queued", attempt: retry.attempt, replay: retry.replay };
}

/** A retry that failed again since `at` isn't taken again. */
export function* retryWaiting(
	p: WebhookRef & {
		readonly at: number;
		readonly limit: number;
		readonly after?: RetryPosition | undefined;
	},
): Steps<RetriedPage> {
	const found = yield* holdWebhook(p);
	if (found === null) return { seqs: [], next: null };
	const { project, webhook } = found;
	const dueAt = yield* toDatabaseTime(p.at);
	const from = p.after ?? { dueAt, seq: Number.MAX_SAFE_INTEGER };
	const waiting = yield* rows<RetryPosition & { startedAt: number | null }>(sql`
		SELECT r.due_at AS "dueAt", r.seq, (
			SELECT a.started_at FROM posthorn.attempts a
			WHERE a.project_no = ${project} AND a.seq = r.seq AND a.webhook_no = ${webhook}
			ORDER BY a.replay DESC, a.attempt DESC LIMIT 1
		) AS "startedAt"
		FROM posthorn.retries r
		WHERE r.project_no = ${project} AND r.webhook_no = ${webhook} AND r.queue = ${RETRIES}
			AND (r.due_at, r.seq) > (${from.dueAt}, ${from.seq})
		ORDER BY r.due_at, r.seq LIMIT ${p.limit}`);
	const early = waiting.filter(({ startedAt }) => (startedAt ?? 0) < p.at).map(({ seq }) => seq);
	if (early.length > 0) yield* together(...early.map((seq) => moveRetry(project, webhook, seq, dueAt)), wake(project));
	const last = waiting.at(-1);
	const next = last === undefined || waiting.length < p.limit ? null : { dueAt: last.dueAt, seq: last.seq };
	return { seqs: early, next };
}
