import type { Check, Witness } from "../check.ts";
import { isFirst, widestSince } from "../ledger.ts";

/** Attempts started before a lane was narrowed are written within an attempt's timeout plus this, milliseconds. */
export const CONNECTING_MS = 15_000;
/** How much earlier than its time the new owner may count a handed-over attempt as ended, milliseconds. */
const CLOCKS_MS = 1_500;

/** No more first attempts of a webhook are in flight than it allows, not counting those of nodes that lost the project. */
export function inFlight(witness: Witness): Check {
	/** When each project's lease was taken last, by true time: earlier requests belong to a lease that has ended. */
	const takenAt = new Map<string, number>();
	return {
		promise: "no more first attempts are in flight than a webhook allows",
		on(happening) {
			if (happening.kind === "leased") takenAt.set(happening.lease.projectId, happening.at);
			if (happening.kind !== "sent") return;
			const { request, at } = happening;
			const { webhook, seq, eventId } = witness.wire.read(request, at);
			const delivery = seq === null ? undefined : webhook?.deliveries.get(seq);
			if (!webhook || seq === null || !delivery || !isFirst(delivery)) return;
			const { projectId, id: webhookId } = webhook;
			// It may be a retry, if a failover has just lost the first attempt.
			if (witness.isForgotten(webhook, seq, request.node)) return;
			// Later ones are made again, even if a suspended node still has them in flight.
			const handedOverUntil = witness.nodeNow(request.node) + CLOCKS_MS + witness.disagreementMs();
			const handedOver = (witness.ledger.handedOver.get(projectId) ?? []).filter(
				({ until }) => until > handedOverUntil,
			);
			let others = 0;
			for (const other of witness.wire.open.get(webhookId) ?? []) {
				if (other.seq === seq || other.attempt?.series !== 0 || other.attempt.number !== 1) continue;
				if (other.seq === null || other.seq < 0) continue;
				if (witness.isForgotten(webhook, other.seq, request.node)) continue;
				const isHandedOver = handedOver.some((one) => one.webhookId === webhookId && one.seq === other.seq);
				const isOfTerm = other.request.node === request.node && other.sentAt >= (takenAt.get(projectId) ?? 0);
				if (isOfTerm || isHandedOver) others += 1;
			}
			const most = widestSince(webhook, at - witness.facts.attemptTimeoutMs - CONNECTING_MS);
			if (others >= most)
				witness.broken(
					{ projectId, webhookId, eventId },
					`the first attempt of number ${seq} was made with ${others} others in flight, expected at most ${most - 1}`,
				);
		},
	};
}
