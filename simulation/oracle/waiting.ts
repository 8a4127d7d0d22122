import type { Check, Witness } from "./check.ts";
import { isFirst } from "./ledger.ts";

/** How long a delivery that may be attempted waits at most, milliseconds, while nothing is wrong. */
export interface Patience {
	/** Until whoever works its project hears of it. */
	readonly hearingMs: number;
	/** Until its project has its turn, where more have work than a node works at once. */
	readonly turnMs: number;
}

/**
 * While nothing is wrong, no project waits for longer than the bound, whatever the others do. It counts from the moment
 * when an attempt may be made: the event was appended, or the retry is due, and its lane is free.
 */
export function waiting(witness: Witness, { hearingMs, turnMs }: Patience): Check & { readonly longestMs: number } {
	/** Faults that last, and when the last one was over. */
	let faults = 0;
	let calmSince = 0;
	/** By webhook, when its last attempt ended. */
	const freeSince = new Map<string, number>();
	/** By project, when it was served last. */
	const served = new Map<string, number>();
	let longestMs = 0;
	return {
		promise: "no project waits longer than the bound while others are served",
		get longestMs() {
			return longestMs;
		},
		on(happening) {
			const { at } = happening;
			if (happening.kind === "fault") {
				faults += happening.phase === "begins" ? 1 : -1;
				calmSince = at;
			}
			if (["started", "crashed", "froze", "thawed", "stopping", "stopped", "restored"].includes(happening.kind))
				calmSince = at;
			if (happening.kind === "responded" || happening.kind === "broken") {
				const { webhook } = witness.wire.read(happening.request, at);
				if (webhook) freeSince.set(webhook.id, at);
			}
			if (happening.kind === "settled")
				for (const { webhookId } of happening.settlement.attempts) freeSince.set(webhookId, at);
			if (happening.kind !== "sent") return;
			const { request } = happening;
			const { webhook, seq, eventId } = witness.wire.read(request, at);
			const delivery = seq === null ? undefined : webhook?.deliveries.get(seq);
			if (!webhook || !delivery || delivery.next === null) return;
			// Whether the attempt before has ended is not seen from outside until it is settled.
			if (witness.wire.hasOpen(webhook.id)) return;
			// A lane that has many of them in flight, to a receiver that hangs, holds up its own retries.
			if (!isFirst(delivery) && webhook.open.size >= OWN_RETRIES) return;
			// A retry's time is one of a node's clock.
			const dueAgoMs = delivery.requested || isFirst(delivery) ? 0 : witness.nodeNow(request.node) - delivery.dueAt;
			const dueAt = isFirst(delivery) ? delivery.since : at - Math.max(0, dueAgoMs);
			const project = witness.ledger.projects.get(webhook.projectId)!;
			// Many webhooks of one project share its part of the node.
			const servedAt = project.webhooks.size > MANY_WEBHOOKS ? (served.get(project.id) ?? 0) : 0;
			served.set(project.id, at);
			const since = Math.max(
				servedAt,
				dueAt,
				delivery.since,
				calmSince + RECOVERY_MS,
				webhook.activeSince,
				freeSince.get(webhook.id) ?? 0,
			);
			if (faults > 0) return;
			const waitedMs = at - since;
			longestMs = Math.max(longestMs, waitedMs);
			// A retry is timed by the monotonic clock: it may be late by as much as the time of day was set.
			const boundMs = hearingMs + turnMs + witness.disagreementMs();
			if (waitedMs > boundMs)
				witness.broken(
					{ projectId: webhook.projectId, webhookId: webhook.id, eventId },
					`number ${seq} waited for ${waitedMs} ms for attempt ${delivery.next}, expected at most ${boundMs} ms`,
				);
		},
	};
}

/** From so many on, the bound is one of the project rather than of each webhook. */
const MANY_WEBHOOKS = 50;

/** Retries of one webhook that may be in flight, at least. */
const OWN_RETRIES = 16;

/** So long after a fault ended everything is as if it had not been, milliseconds. */
export const RECOVERY_MS = 60_000;
