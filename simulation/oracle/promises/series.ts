import type { NewAttempt } from "../../../packages/server/src/storage/port.ts";
import type { Check, Witness } from "../check.ts";
import { type Delivery, isWanted } from "../ledger.ts";

const CLOSINGS = new Set(["expired", "unsubscribed", "skipped", "deleted"]);

/** A series has attempts 1, 2, 3 …, each settled once, and ends with success, the last attempt, or a reason that holds. */
export function series(witness: Witness): Check {
	const { retryDelaysMs, retentionMs } = witness.facts;
	const ids = new Set<string>();

	function check(delivery: Delivery, attempt: NewAttempt, node: string): void {
		const { webhook, event } = delivery;
		const about = { projectId: webhook.projectId, webhookId: webhook.id, eventId: event.id };
		const name = `attempt ${attempt.attempt} of series ${attempt.replay}`;
		if (delivery.next === null) witness.broken(about, `${name} was settled, and the delivery had ended`);
		else if (attempt.replay !== delivery.series || attempt.attempt !== delivery.next)
			witness.broken(about, `${name} was settled, expected attempt ${delivery.next} of series ${delivery.series}`);
		if (attempt.attempt > retryDelaysMs.length + 1) witness.broken(about, `${name} is one too many`);
		if (ids.has(attempt.id)) witness.broken(about, `${name} was settled twice, as ${attempt.id}`);
		ids.add(attempt.id);
		const why = attempt.errorCode ?? "";
		if (CLOSINGS.has(why)) checkClosing(delivery, attempt, why, about, witness.nodeNow(node));
		else checkOutcome(delivery, attempt, about);
	}

	function checkOutcome({ webhook }: Delivery, attempt: NewAttempt, about: object): void {
		const { statusCode, status, startedAt, responseMs, nextRetryAt } = attempt;
		const delay = retryDelaysMs[attempt.attempt - 1];
		const isSuccess = statusCode !== null && statusCode >= 200 && statusCode < 300;
		// Deleted webhooks have no retries.
		const expected = isSuccess ? ["delivered"] : delay === undefined ? ["failed"] : ["retrying"];
		if (!isSuccess && webhook.isDeleted) expected.push("failed");
		if (!expected.includes(status))
			witness.broken(
				about,
				`attempt ${attempt.attempt} got ${statusCode ?? attempt.errorCode}, is ${status}, expected ${expected}`,
			);
		const dueAt = status === "retrying" ? startedAt + responseMs + delay! : null;
		if (nextRetryAt !== dueAt)
			witness.broken(about, `after attempt ${attempt.attempt} the next is due at ${nextRetryAt}, expected ${dueAt}`);
	}

	function checkClosing(delivery: Delivery, attempt: NewAttempt, why: string, about: object, now: number): void {
		const { webhook, event } = delivery;
		if (attempt.status !== "failed" || attempt.sent !== null)
			witness.broken(about, `it was closed as ${why}, and is ${attempt.status}`);
		const waitedSince = delivery.next === 1 && delivery.series === 0 ? event.publishedAt : delivery.dueAt;
		const holds =
			why === "deleted"
				? webhook.isDeleted
				: why === "expired"
					? // The retry's time was one of the node's clock, which may have been set since, or have stood still.
						waitedSince <= now - retentionMs + witness.disagreementMs()
					: why === "skipped"
						? event.seq <= webhook.skipThrough
						: !isWanted(delivery);
		if (!holds) witness.broken(about, `it was closed as ${why}, which does not hold`);
	}

	return {
		promise: "no attempt number is skipped or settled twice, and no series is too long",
		on(happening) {
			if (happening.kind === "restored") ids.clear();
			if (happening.kind !== "settled") return;
			const { settlement, node } = happening;
			const { projectId } = settlement;
			for (const attempt of settlement.attempts) {
				const webhook = witness.ledger.webhooks.get(attempt.webhookId);
				const delivery = webhook?.deliveries.get(attempt.seq);
				if (!delivery || webhook?.projectId !== projectId) {
					const about = { projectId, webhookId: attempt.webhookId };
					witness.broken(
						about,
						`an attempt for number ${attempt.seq} was settled, which this webhook never was to get`,
					);
				} else check(delivery, attempt, node);
			}
		},
	};
}
