/** The newest attempts of deliveries, for lists, and the marks of dismissed ones. */
import type { DeliveryKey } from "../port/delivery.ts";
import type { DeliveryRef, LatestAttempt } from "../port/history.ts";
import type { ProjectRef } from "../port/registry.ts";
import { type AttemptRow, STATUS_CODE, statusOf, summaryOf } from "../shared/deliveries.ts";
import { Fragment, greatest, ofProject, type Query, recordsOf, sql } from "./sql.ts";
import { findProject, findWebhook, holdProject, type Part, rows, type Steps, together, toNodeTime } from "./verb.ts";

interface Next {
	readonly attempt: number;
	readonly replay: number;
	readonly dueAt: number;
}

/** As a range with its order, so that PostgreSQL takes the primary key without statistics, too. */
export const nextOf = (project: number, webhook: number, seq: number): Query<Next> => sql`
	SELECT attempt, replay, due_at AS "dueAt" FROM posthorn.retries
	WHERE project_no = ${project} AND (seq, webhook_no) >= (${seq}, ${webhook})
		AND (seq, webhook_no) <= (${seq}, ${webhook})
	ORDER BY seq, webhook_no LIMIT 1`;

/** Deliveries as rows `g (no, webhook, seq)`: the project's number, the webhook's, and the event's. */
const [given, endGiven] = recordsOf("no", "webhook", "seq");

/** Joins the newest attempt `a` and the pending one `r` of each, or nulls: a step in an index for each. */
const THEIR_LATEST = new Fragment({
	postgres: `
		LEFT JOIN LATERAL (
			SELECT * FROM posthorn.attempts WHERE project_no = g.no AND seq = g.seq AND webhook_no = g.webhook
			ORDER BY replay DESC, attempt DESC LIMIT 1
		) a ON true
		LEFT JOIN LATERAL (
			SELECT attempt, replay, due_at FROM posthorn.retries
			WHERE project_no = g.no AND (seq, webhook_no) BETWEEN (g.seq, g.webhook) AND (g.seq, g.webhook)
			ORDER BY seq, webhook_no LIMIT 1
		) r ON true`,
	sqlite: `
		LEFT JOIN attempts a ON a.no = (
			SELECT no FROM attempts WHERE project_no = g.no AND seq = g.seq AND webhook_no = g.webhook
			ORDER BY replay DESC, attempt DESC LIMIT 1
		)
		LEFT JOIN retries r ON r.project_no = g.no AND r.seq = g.seq AND r.webhook_no = g.webhook`,
});

interface Latest extends AttemptRow {
	readonly given_seq: number;
	readonly given_webhook: number;
	readonly dismissed_at: number | null;
	/** Null if none is pending. */
	readonly next_attempt: number | null;
	readonly next_replay: number;
	readonly next_due_at: number;
}

export const latestOf = (deliveries: string): Query<Latest> => sql`
	SELECT g.seq AS given_seq, g.webhook AS given_webhook, a.id, a.seq, a.attempt, a.replay, a.status, a.status_code,
		a.error_code, a.error, a.started_at, a.response_ms, a.next_retry_at, a.url, a.dismissed_at,
		r.attempt AS next_attempt, r.replay AS next_replay, r.due_at AS next_due_at
	FROM ${given}${deliveries}${endGiven} ${THEIR_LATEST}`;

function newestAttemptOf(row: AttemptRow, webhookId: string): LatestAttempt["newest"] {
	const { eventId: _, eventType: __, ...newest } = summaryOf(row, { webhookId, eventType: "" });
	return newest;
}

/** For each of these deliveries, in the same order. */
export function* readLatest({
	projectId,
	deliveries,
}: ProjectRef & { readonly deliveries: readonly DeliveryRef[] }): Steps<LatestAttempt[]> {
	const project = yield* findProject(projectId);
	const numbers = new Map<string, number | null>();
	for (const { webhookId } of project === null ? [] : deliveries)
		if (!numbers.has(webhookId)) numbers.set(webhookId, yield* findWebhook(project!, webhookId));
	const asked = deliveries.map(({ webhookId, seq }) => ({ no: project, webhook: numbers.get(webhookId) ?? null, seq }));
	const known = asked.filter(({ webhook }) => webhook !== null);
	const found = known.length === 0 ? [] : yield* rows(latestOf(JSON.stringify(known)));
	const byDelivery = new Map(found.map((row) => [`${row.given_webhook} ${row.given_seq}`, row]));
	const latest: LatestAttempt[] = [];
	for (const [i, { webhook, seq }] of asked.entries()) {
		const row = byDelivery.get(`${webhook} ${seq}`);
		if (row === undefined) {
			latest.push({ newest: null, dismissed: false, next: null });
			continue;
		}
		const { next_attempt: attempt, next_replay: replay, next_due_at: dueAt } = row;
		latest.push({
			newest: row.id === null ? null : newestAttemptOf(row, deliveries[i]!.webhookId),
			dismissed: row.dismissed_at !== null,
			next: attempt === null ? null : { attempt, replay, dueAt: yield* toNodeTime(dueAt) },
		});
	}
	return latest;
}

/** The events of these deliveries, in this order. They never change, so no one has to hold the project. */
export function* findEvents(
	project: number,
	deliveries: readonly DeliveryKey[],
): Steps<({ readonly seq: number; readonly type: number } | undefined)[]> {
	const ids = [...new Set(deliveries.map(({ eventId }) => eventId))];
	const found = yield* together(
		...ids.map(
			(id) => sql<{ seq: number; type: number }>`
				SELECT seq, type FROM posthorn.events WHERE project_no = ${project} AND id = ${id}`,
		),
	);
	const events = new Map(ids.map((id, i) => [id, found[i]?.[0]]));
	return deliveries.map(({ eventId }) => events.get(eventId));
}

const forgetDeadLetter = (project: number, webhook: number): Query => sql`
	UPDATE posthorn.lanes SET dead_letters = ${greatest}(0, dead_letters - 1)
	WHERE ${ofProject} ${project} AND webhook_no = ${webhook}`;

interface Dismissible {
	readonly webhook: number;
	readonly seq: number;
	readonly type: number;
}

/**
 * Marks dead letters as needing no decision: they no longer count, and replays by filter leave them out. Returns for each
 * whether it is dismissed now; false if it isn't a dead letter. One transaction.
 */
export function* dismissDeliveries({
	projectId,
	deliveries,
	at,
}: ProjectRef & { readonly deliveries: readonly DeliveryKey[]; readonly at: number }): Steps<boolean[]> {
	const project = yield* findProject(projectId);
	if (project === null) return deliveries.map(() => false);
	const events = yield* findEvents(project, deliveries);
	// By key, so that one that is named twice is dismissed once.
	const known = new Map<string, Dismissible>();
	const keys: string[] = [];
	for (const [i, { webhookId }] of deliveries.entries()) {
		const webhook = yield* findWebhook(project, webhookId);
		const event = events[i];
		const key = `${webhook} ${event?.seq}`;
		keys.push(key);
		if (webhook !== null && event !== undefined) known.set(key, { webhook, ...event });
	}
	if (known.size === 0) return deliveries.map(() => false);
	yield* together(holdProject(project));
	const asked = Array.from(known.values(), ({ webhook, seq }) => ({ no: project, webhook, seq }));
	const changes: Part[] = [];
	const dismissed = new Set<string>();
	for (const last of yield* rows(latestOf(JSON.stringify(asked)))) {
		if (last.id === null || last.next_attempt !== null || statusOf(last.status) !== "failed") continue;
		const key = `${last.given_webhook} ${last.given_seq}`;
		dismissed.add(key);
		if (last.dismissed_at !== null) continue;
		const { webhook, seq, type } = known.get(key)!;
		changes.push(
			// Names all columns of one of the log's indexes. Otherwise PostgreSQL may choose another index.
			sql`
				UPDATE posthorn.attempts SET dismissed_at = ${at}
				WHERE project_no = ${project} AND webhook_no = ${webhook} AND status = ${STATUS_CODE.failed} AND type = ${type}
					AND id = ${last.id as string}`,
			// Failed tests don't count.
			...(seq > 0 ? [forgetDeadLetter(project, webhook)] : []),
		);
	}
	if (changes.length > 0) yield* together(...changes);
	return keys.map((key) => dismissed.has(key));
}
