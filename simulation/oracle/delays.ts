import type { Check, Witness } from "./check.ts";
import { lastOf } from "./ledger.ts";

/** How much a clock may be wrong by itself: parts of a second in a second. */
const DRIFT = 0.001;

/** No attempt is made before it is due, by the clock of the node that makes it, unless clocks disagree. */
export function delays(witness: Witness): Check {
	return {
		promise: "the delays between attempts are as configured",
		on(happening) {
			if (happening.kind !== "sent") return;
			const { request, at } = happening;
			const { webhook, seq, eventId } = witness.wire.read(request, at);
			const delivery = seq === null ? undefined : webhook?.deliveries.get(seq);
			if (!webhook || !delivery || delivery.next === null || delivery.requested) return;
			const about = { projectId: webhook.projectId, webhookId: webhook.id, eventId };
			const earlyMs = delivery.dueAt - witness.nodeNow(request.node);
			const last = lastOf(delivery);
			if (earlyMs <= 0 || witness.isUnsettled(webhook.projectId)) return;
			const disagreementMs = witness.disagreementMs();
			if (disagreementMs === 0) {
				witness.broken(about, `attempt ${delivery.next} was made ${earlyMs} ms before it was due`);
				return;
			}
			// By true time: from the end of the attempt before.
			const ended = witness.wire
				.of(webhook.id, eventId)
				.findLast(({ signature }) => signature === last?.sent?.signature);
			const delayMs = last?.status === "retrying" ? witness.facts.retryDelaysMs[last.attempt - 1]! : 0;
			const waitedMs = at - (ended?.endedAt ?? delivery.since);
			if (waitedMs < delayMs * (1 - DRIFT) - disagreementMs)
				witness.broken(
					about,
					`attempt ${delivery.next} was made ${waitedMs} ms after the one before, expected ${delayMs} ms`,
				);
		},
	};
}
