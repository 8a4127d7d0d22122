import type { Check, Witness } from "../check.ts";
import { widestSince } from "../ledger.ts";
import type { Transfer } from "../wire.ts";
import { CONNECTING_MS } from "./in-flight.ts";

/** Retries of one webhook that may be in flight, or `max_in_flight` if that is more. */
const RETRIES = 16;

/** A webhook's retries and its replays in bulk have limits of their own. Those of nodes that lost the project don't count. */
export function queued(witness: Witness): Check {
	/** When each project's lease was taken last, by true time. */
	const takenAt = new Map<string, number>();
	return {
		promise: "no more retries or replays are in flight than a webhook may have",
		on(happening) {
			if (happening.kind === "leased") takenAt.set(happening.lease.projectId, happening.at);
			if (happening.kind !== "sent") return;
			const { request, at } = happening;
			const transfer = witness.wire.read(request, at);
			const { webhook, eventId } = transfer;
			const kind = kindOf(transfer);
			if (!webhook || kind === null) return;
			const { projectId, id: webhookId } = webhook;
			// The node may not know yet which outcomes a failover lost.
			if (witness.isUnsettled(projectId, request.node)) return;
			let others = 0;
			for (const other of witness.wire.open.get(webhookId) ?? []) {
				if (other.seq === transfer.seq || kindOf(other) !== kind) continue;
				if (other.request.node === request.node && other.sentAt >= (takenAt.get(projectId) ?? 0)) others += 1;
			}
			const widest = widestSince(webhook, at - witness.facts.attemptTimeoutMs - CONNECTING_MS);
			const most = kind === "retry" ? Math.max(RETRIES, widest) : widest;
			if (others >= most)
				witness.broken(
					{ projectId, webhookId, eventId },
					`a ${kind} was made with ${others} others in flight, expected at most ${most - 1}`,
				);
		},
	};
}

/** Null: neither of the two. The first attempt of a replay in bulk is a replay, and its next ones are retries. */
function kindOf({ attempt }: Transfer): "retry" | "replay" | null {
	if (attempt === null) return null;
	if (attempt.number > 1) return "retry";
	return attempt.series > 0 && !attempt.requested ? "replay" : null;
}
