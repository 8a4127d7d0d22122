/** New series of attempts: test events, and replays of deliveries that have ended. */
import type { By } from "../port/accounts.ts";
import type { QueueName, ReplayResult } from "../port/delivery.ts";
import type { CountedPage, MatchingReplays, ReplayedPage } from "../port/history.ts";
import type { WebhookRef } from "../port/registry.ts";
import { countedPage, QUEUE_CODE, replayRange, toAttemptId, type WalkedAttempt } from "../shared/deliveries.ts";
import { type DeliveryOf, eventOf, findDelivery, given, latestOf } from "./deliveries.ts";
import { mayStill } from "./members.ts";
import { holdWebhook } from "./registry.ts";
import { Fragment, greatest, joinByKey, ofProject, sql } from "./sql.ts";
import {
	findWebhook,
	holdProject,
	now,
	row,
	rows,
	type Steps,
	toDatabaseTime,
	together,
	wake,
	walkAttempts,
} from "./verb.ts";

/** A new series of a delivery of which no attempt is pending. */
interface NewSeries {
	/** The webhook's number. */
	readonly webhook: number;
	readonly seq: number;
	readonly replay: number;
	/** Whether the delivery currently counts as a dead letter. */
	readonly wasDead: boolean;
}

/** Queues and counts first attempts, for a caller that holds all of the project. */
function* beginSeries(project: number, queue: QueueName, series: readonly NewSeries[], at: number): Steps<void> {
	const dueAt = yield* toDatabaseTime(at);
	const lanes = [...Map.groupBy(series, ({ webhook }) => webhook)];
	yield* together(
		sql`
			INSERT INTO posthorn.retries (project_no, webhook_no, seq, replay, attempt, queue, due_at)
			SELECT ${project}, g.webhook, g.seq, g.replay, 1, ${QUEUE_CODE[queue]}, ${dueAt}
			FROM ${given(series)}`,
		...lanes.map(
			([webhook, begun]) => sql`
				UPDATE posthorn.lanes SET retries_waiting = retries_waiting + ${begun.length},
					dead_letters = ${greatest}(0, dead_letters - ${begun.filter(({ wasDead }) => wasDead).length})
				WHERE ${ofProject} ${project} AND webhook_no = ${webhook}`,
		),
		wake(project),
	);
}

/** Test events are numbered downward from −1, where the engine keeps the end of the log. */
const NUMBER_TEST = new Fragment({
	postgres: "UPDATE posthorn.logs SET last_test_seq = last_test_seq - 1 WHERE project_no =",
	sqlite: "UPDATE projects SET last_test_seq = last_test_seq - 1 WHERE no =",
});

/** Stores a test event outside the log and queues it for its webhook, if that subscribes to its type. */
export function* appendTestEvent(
	project: number,
	p: WebhookRef & By & { readonly event: { id: string; type: string; createdAt: number; body: Uint8Array } },
): Steps<"queued" | "no_webhook" | "not_subscribed"> {
	const found = yield* holdWebhook(project, p);
	if (found === null) return "no_webhook";
	const { webhook } = found;
	const { id, type, createdAt, body } = p.event;
	const subscribed = yield* row<{ type: number }>(sql`
		SELECT type FROM posthorn.subscriptions
		WHERE ${ofProject} ${project} AND webhook_no = ${webhook}
			AND type = (SELECT code FROM posthorn.event_types WHERE name = ${type})`);
	if (subscribed === undefined) return "not_subscribed";
	const test = yield* row<{ seq: number }>(sql`${NUMBER_TEST} ${project} RETURNING last_test_seq AS seq`);
	const { seq } = test!;
	const at = yield* now();
	yield* rows(sql`
		INSERT INTO posthorn.events (project_no, seq, id, type, created_at, published_at, body)
		VALUES (${project}, ${seq}, ${id}, ${subscribed.type}, ${createdAt}, ${at}, ${body})`);
	yield* beginSeries(project, "requested", [{ webhook, seq, replay: 0, wasDead: false }], at);
	return "queued";
}

/** Begins a new series for a delivery that has ended. There is no delivery if `by` has no access anymore. */
export function* replayDelivery(project: number, p: DeliveryOf & By & { readonly at: number }): Steps<ReplayResult> {
	const webhook = yield* findWebhook(project, p.webhookId);
	if (webhook === null) return { kind: "no_delivery" };
	const [, [event]] = yield* together(holdProject(project), eventOf(project, p.eventId));
	if (!(yield* mayStill(project, p.by))) return { kind: "no_delivery" };
	const found = event === undefined ? null : yield* findDelivery(project, webhook, event, 1);
	if (event === undefined || found === null) return { kind: "no_delivery" };
	const { progress } = found;
	if (progress.state === "attempting") return { kind: "attempting" };
	const { seq } = event;
	const replay = progress.replay + 1;
	const wasDead = seq > 0 && progress.state === "dead_lettered" && !progress.dismissed;
	yield* beginSeries(project, "requested", [{ webhook, seq, replay, wasDead }], p.at);
	return { kind: "queued", replay };
}

/** Begins a new series for each delivery that matches; none if `by` has no access anymore. A short transaction. */
export function* replayMatching(project: number, p: MatchingReplays & By): Steps<ReplayedPage> {
	yield* together(holdProject(project));
	if (!(yield* mayStill(project, p.by))) return { count: 0, next: null };
	const { chosen, next } = yield* choose(project, p);
	const series = chosen.map(({ webhook, seq, replay, status }) => {
		return { webhook, seq, replay: replay + 1, wasDead: status === "failed" };
	});
	if (series.length > 0) yield* beginSeries(project, "replay", series, p.at);
	return { count: series.length, next };
}

/** Counts the deliveries that {@link replayMatching} would replay. */
export function* countMatching(project: number, p: MatchingReplays): Steps<CountedPage> {
	const { chosen, next } = yield* choose(project, p);
	return countedPage(chosen, next);
}

const LIVE = joinByKey("webhooks w", "w.project_no = g.no AND w.no = g.webhook");

/** Scanned attempts that are the newest of an ended delivery of an existing webhook, without test events. */
function* choose(
	project: number,
	{ selection, limit, ...p }: MatchingReplays,
): Steps<{
	readonly chosen: readonly (WalkedAttempt & { readonly webhookId: string })[];
	readonly next: string | null;
}> {
	const range = replayRange({ selection, limit, ...p });
	const [{ rows: scanned, end }] = yield* together(walkAttempts(project, selection, range, limit));
	const last = scanned.length < limit ? end : scanned.at(-1)!.id;
	const next = last === null ? null : toAttemptId(last);
	const attempts = scanned.filter(({ seq }) => seq > 0);
	if (attempts.length === 0) return { chosen: [], next };
	const deliveries = attempts.map(({ webhook, seq }) => ({ no: project, webhook, seq }));
	const webhooks = [...new Set(attempts.map(({ webhook }) => webhook))].map((webhook) => ({ no: project, webhook }));
	const [latest, live] = yield* together(
		latestOf(deliveries),
		sql<{ no: number; id: string }>`
			SELECT w.no, w.id FROM ${given(webhooks)} ${LIVE}
			WHERE w.deleted_at IS NULL`,
	);
	const ids = new Map(live.map(({ no, id }) => [no, id]));
	const ended = latest.filter((each) => each.next_attempt === null && each.dismissed_at === null);
	const newest = new Set(ended.map((each) => each.id));
	const chosen = attempts.flatMap((each) => {
		const webhookId = ids.get(each.webhook);
		return webhookId === undefined || !newest.has(each.id) ? [] : [{ ...each, webhookId }];
	});
	return { chosen, next };
}
