/** The newest attempts of deliveries, for lists, and the marks of dismissed ones. */
import type { DeliveryRef, LatestAttempt } from "../port/history.ts";
import type { ProjectRef } from "../port/registry.ts";
import { type AttemptRow, STATUS_CODE, statusOf, summaryOf } from "../shared/deliveries.ts";
import { type Query, sql } from "./sql.ts";
import {
	findProject,
	findWebhook,
	forgetDeadLetters,
	holdProject,
	row,
	type Steps,
	together,
	toNodeTime,
} from "./verb.ts";

interface Next {
	readonly attempt: number;
	readonly replay: number;
	readonly dueAt: number;
}

const newestOf = (project: number, webhook: number, seq: number): Query<AttemptRow> => sql`
	SELECT id, seq, attempt, replay, status, status_code, error_code, error, started_at, response_ms, next_retry_at, url,
		dismissed_at
	FROM posthorn.attempts
	WHERE project_no = ${project} AND seq = ${seq} AND webhook_no = ${webhook}
	ORDER BY replay DESC, attempt DESC LIMIT 1`;

/** As a range with its order, so that PostgreSQL takes the primary key without statistics, too. */
const nextOf = (project: number, webhook: number, seq: number): Query<Next> => sql`
	SELECT attempt, replay, due_at AS "dueAt" FROM posthorn.retries
	WHERE project_no = ${project} AND (seq, webhook_no) >= (${seq}, ${webhook})
		AND (seq, webhook_no) <= (${seq}, ${webhook})
	ORDER BY seq, webhook_no LIMIT 1`;

function newestAttemptOf(row: AttemptRow, webhookId: string): LatestAttempt["newest"] {
	const { eventId: _, eventType: __, ...newest } = summaryOf(row, { webhookId, eventType: "" });
	return newest;
}

export function* readLatest({
	projectId,
	deliveries,
}: ProjectRef & { readonly deliveries: readonly DeliveryRef[] }): Steps<LatestAttempt[]> {
	const project = yield* findProject(projectId);
	const numbers = new Map<string, number | null>();
	for (const { webhookId } of project === null ? [] : deliveries)
		if (!numbers.has(webhookId)) numbers.set(webhookId, yield* findWebhook(project!, webhookId));
	const asked = deliveries.map(({ webhookId, seq }) => ({ webhook: numbers.get(webhookId) ?? null, seq }));
	const known = asked.filter(({ webhook }) => webhook !== null) as { webhook: number; seq: number }[];
	const newest = (yield* together(
		...known.map(({ webhook, seq }) => newestOf(project!, webhook, seq)),
	)) as AttemptRow[][];
	const next = (yield* together(...known.map(({ webhook, seq }) => nextOf(project!, webhook, seq)))) as Next[][];
	const latest: LatestAttempt[] = [];
	let at = 0;
	for (const [i, { webhook }] of asked.entries()) {
		const [last, retry] = webhook === null ? [] : [newest[at]![0], next[at]![0]];
		if (webhook !== null) at++;
		latest.push({
			newest: last === undefined ? null : newestAttemptOf(last, deliveries[i]!.webhookId),
			dismissed: last !== undefined && last.dismissed_at !== null,
			next: retry === undefined ? null : { ...retry, dueAt: yield* toNodeTime(retry.dueAt) },
		});
	}
	return latest;
}

/** @returns for each, whether it is dismissed now; false if it isn't a dead letter */
export function* dismissDeliveries({
	projectId,
	deliveries,
	at,
}: ProjectRef & {
	readonly deliveries: readonly { readonly webhookId: string; readonly eventId: string }[];
	readonly at: number;
}): Steps<boolean[]> {
	const project = yield* findProject(projectId);
	if (project === null) return deliveries.map(() => false);
	yield* together(holdProject(project));
	const dismissed: boolean[] = [];
	for (const { webhookId, eventId } of deliveries) {
		const webhook = yield* findWebhook(project, webhookId);
		const event = yield* row<{ seq: number; type: number }>(sql`
			SELECT seq, type FROM posthorn.events WHERE project_no = ${project} AND id = ${eventId}`);
		const isKnown = webhook !== null && event !== undefined;
		dismissed.push(isKnown && (yield* dismiss(project, webhook, event, at)));
	}
	return dismissed;
}

function* dismiss(
	project: number,
	webhook: number,
	{ seq, type }: { readonly seq: number; readonly type: number },
	at: number,
): Steps<boolean> {
	const [[newest], [next]] = yield* together(newestOf(project, webhook, seq), nextOf(project, webhook, seq));
	if (newest === undefined || next !== undefined || statusOf(newest.status) !== "failed") return false;
	if (newest.dismissed_at !== null) return true;
	yield* together(
		// Names all columns of one of the log's indexes. Otherwise PostgreSQL may choose another index.
		sql`
			UPDATE posthorn.attempts SET dismissed_at = ${at}
			WHERE project_no = ${project} AND webhook_no = ${webhook} AND status = ${STATUS_CODE.failed} AND type = ${type}
				AND id = ${newest.id as string}`,
		forgetDeadLetters(project, webhook, 1),
	);
	return true;
}
