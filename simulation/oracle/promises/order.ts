import type { Check, Witness } from "../check.ts";
import { isFirst, type LedgerWebhook, widestSince } from "../ledger.ts";

/** A started attempt is settled within this time unless its node is lost, milliseconds. */
const LATE_MS = 10 * 60_000;

/** Events that had not been sent when a later one was: more than may have been in flight then. */
interface Passed {
	/** The later one. */
	readonly by: number;
	readonly earlier: Set<number>;
	/** How many of these may have been in flight already. */
	readonly places: number;
	/** How many of them were sent after all. */
	sent: number;
}

/** What a lane has sent under the term of one holder. */
interface Lane {
	readonly node: string;
	/** The numbers of events whose first attempt was made, and is not settled. */
	readonly sent: Set<number>;
	passed: Passed[];
}

/**
 * First attempts come in log order: when one is made, all earlier ones have been made, but for those in flight. An attempt
 * that ended before it could be sent (its receiver's name was not found, say) passes for made.
 */
export function order(witness: Witness): Check {
	const lanes = new Map<string, Lane>();

	function sent(webhook: LedgerWebhook, seq: number, node: string, eventId: string, at: number): void {
		let lane = lanes.get(webhook.id);
		if (lane?.node !== node) {
			lane = { node, sent: new Set(), passed: [] };
			lanes.set(webhook.id, lane);
		}
		if (lane.sent.has(seq)) return;
		lane.sent.add(seq);
		const about = { projectId: webhook.projectId, webhookId: webhook.id, eventId };
		for (const passed of lane.passed) {
			if (!passed.earlier.delete(seq)) continue;
			passed.sent += 1;
			if (passed.sent > passed.places)
				witness.broken(about, `the first attempt of number ${seq} was made after that of number ${passed.by}`);
		}
		const earlier = new Set<number>();
		for (const [other, delivery] of webhook.open)
			if (other > 0 && other < seq && isFirst(delivery) && !delivery.dropped && !lane.sent.has(other))
				if (!witness.isForgotten(webhook, other, node)) earlier.add(other);
		const places = widestSince(webhook, at - LATE_MS) - 1;
		if (earlier.size > places) lane.passed.push({ by: seq, earlier, places, sent: 0 });
	}

	function settled(webhook: LedgerWebhook, seq: number, together: readonly { seq: number }[], at: number): void {
		const lane = lanes.get(webhook.id);
		lane?.sent.delete(seq);
		for (const passed of lane?.passed ?? []) passed.earlier.delete(seq);
		if (lane) lane.passed = lane.passed.filter(({ earlier }) => earlier.size > 0);
		const earlier: number[] = [];
		for (const [other, delivery] of webhook.open) {
			if (other < 0 || other >= seq || !isFirst(delivery) || delivery.dropped) continue;
			if (!together.some((one) => one.seq === other)) earlier.push(other);
		}
		if (earlier.length > widestSince(webhook, at - LATE_MS) - 1)
			witness.broken(
				{ projectId: webhook.projectId, webhookId: webhook.id },
				`the first attempt of number ${seq} was settled before that of ${earlier.length} earlier events, such as ${earlier[0]}`,
			);
	}

	return {
		promise: "a webhook sees first attempts in log order",
		on(happening) {
			if (happening.kind === "leased") {
				// A new term begins where the last one was settled.
				for (const webhook of witness.ledger.projects.get(happening.lease.projectId)?.webhooks.keys() ?? [])
					lanes.delete(webhook);
			} else if (happening.kind === "settled") {
				const { attempts } = happening.settlement;
				for (const { webhookId, seq, attempt, replay } of attempts) {
					const webhook = witness.ledger.webhooks.get(webhookId);
					if (webhook && attempt === 1 && replay === 0 && seq > 0) settled(webhook, seq, attempts, happening.at);
				}
			} else if (happening.kind === "sent") {
				const { request, at } = happening;
				const { webhook, seq, eventId } = witness.wire.read(request, at);
				const delivery = seq === null ? undefined : webhook?.deliveries.get(seq);
				if (!webhook || seq === null || !delivery || !isFirst(delivery)) return;
				// It may be a retry, if a failover has just lost the first attempt.
				if (!witness.isForgotten(webhook, seq, request.node)) sent(webhook, seq, request.node, eventId, at);
			}
		},
	};
}
