import type { Happening } from "../happenings.ts";
import type { Shape } from "../plan.ts";
import type { Check, Witness } from "./check.ts";
import { type Delivery, isFirst, type LedgerWebhook } from "./ledger.ts";
import { RECOVERY_MS } from "./quiet.ts";

/** How long a delivery that may be attempted waits at most, milliseconds, while nothing is wrong. */
export interface Patience {
	/** The time until the project's owner is notified. */
	readonly hearingMs: number;
	/** Until its project has its turn, where more have work than a node works at once. */
	readonly turnMs: number;
}

/** From this many webhooks on, the limit applies to the project rather than to each webhook. */
const MANY_WEBHOOKS = 50;

/** Retries of one webhook that may be in flight, at least. */
const OWN_RETRIES = 16;

/**
 * While nothing is wrong, no project waits for longer than the bound, whatever the others do. It counts from the moment
 * when an attempt may be made: the event was appended, or the retry is due, and its lane has room. What is never attempted
 * is found by a look now and then.
 */
export function waiting(witness: Witness, { hearingMs, turnMs }: Patience): Check & { readonly longestMs: number } {
	const { quiet } = witness;
	/** By webhook, when an attempt of it last ended; and when one did while it had as many in flight as it asks for. */
	const endedAt = new Map<string, number>();
	const roomSince = new Map<string, number>();
	/** By webhook, when a first attempt was last sent. Invisible ones that are still connecting hold slots, too. */
	const firstSentAt = new Map<string, number>();
	/** By project, when it was served last. */
	const served = new Map<string, number>();
	let longestMs = 0;

	/** Since when this attempt could have been made, by true time. */
	function possibleSince(delivery: Delivery, now: number, nodeNow: number): number {
		const { webhook } = delivery;
		const first = isFirst(delivery);
		// A retry's time is one of a node's clock.
		const dueAgoMs = delivery.requested || first ? 0 : nodeNow - delivery.dueAt;
		const dueAt = first || delivery.requested ? delivery.since : now - dueAgoMs;
		const { size } = witness.ledger.projects.get(webhook.projectId)!.webhooks;
		return Math.max(
			// Many webhooks of one project share its part of the node.
			size > MANY_WEBHOOKS ? (served.get(webhook.projectId) ?? 0) : 0,
			dueAt,
			delivery.since,
			quiet.since,
			webhook.activeSince,
			(first ? roomSince : endedAt).get(webhook.id) ?? 0,
		);
	}

	function judge(delivery: Delivery, since: number, now: number): void {
		const { event, webhook, next } = delivery;
		const waitedMs = now - since;
		longestMs = Math.max(longestMs, waitedMs);
		// A retry is timed by the monotonic clock: it may be late by as much as the time of day was set.
		const boundMs = hearingMs + turnMs + witness.disagreementMs();
		if (waitedMs > boundMs)
			witness.broken(
				{ projectId: webhook.projectId, webhookId: webhook.id, eventId: event.id },
				`number ${event.seq} has waited for ${waitedMs} ms for attempt ${next}, expected at most ${boundMs} ms`,
			);
	}

	function sent(happening: Extract<Happening, { kind: "sent" }>): void {
		const { request, at } = happening;
		const { webhook, seq } = witness.wire.read(request, at);
		const delivery = seq === null ? undefined : webhook?.deliveries.get(seq);
		if (!webhook || !delivery || delivery.next === null) return;
		const lastSentAt = firstSentAt.get(webhook.id) ?? 0;
		if (isFirst(delivery)) firstSentAt.set(webhook.id, at);
		// Whether the attempts before have ended is not seen from outside until they are settled.
		const { wire } = witness;
		if (isFirst(delivery) ? wire.unsettledFirst(webhook.id) >= webhook.narrowest : wire.unsettled(webhook.id) > 0)
			return;
		// A lane that has many of them in flight, to a receiver that hangs, holds up its own retries.
		if (!isFirst(delivery) && webhook.open.size >= OWN_RETRIES) return;
		const since = Math.max(
			possibleSince(delivery, at, witness.nodeNow(request.node)),
			isFirst(delivery) ? lastSentAt : 0,
		);
		served.set(webhook.projectId, at);
		if (quiet.since <= at) judge(delivery, since, at);
	}

	/** Whether an invisible attempt may be in flight. */
	function isHandedOver({ id, projectId }: LedgerWebhook, nodeNow: number): boolean {
		const attempts = witness.ledger.handedOver.get(projectId) ?? [];
		return attempts.some(({ webhookId, until }) => webhookId === id && until + RECOVERY_MS > nodeNow);
	}

	return {
		promise: "no project waits longer than the bound while others are served",
		get longestMs() {
			return longestMs;
		},
		on(happening) {
			if (happening.kind === "settled")
				for (const { webhookId } of happening.settlement.attempts) {
					const { narrowest = 1 } = witness.ledger.webhooks.get(webhookId) ?? {};
					endedAt.set(webhookId, happening.at);
					if (witness.wire.unsettledFirst(webhookId) >= narrowest) roomSince.set(webhookId, happening.at);
				}
			if (happening.kind === "sent") sent(happening);
		},
		look() {
			const { node } = quiet;
			const now = witness.now();
			if (node === undefined || now < quiet.since + hearingMs) return;
			const nodeNow = witness.nodeNow(node);
			for (const webhook of witness.ledger.webhooks.values()) {
				if (webhook.open.size === 0 || webhook.isDeleted || webhook.status === "paused") continue;
				if (witness.wire.unsettled(webhook.id) > 0 || isHandedOver(webhook, nodeNow)) continue;
				for (const delivery of webhook.open.values())
					if (!delivery.dropped)
						judge(delivery, Math.max(possibleSince(delivery, now, nodeNow), endedAt.get(webhook.id) ?? 0), now);
			}
		},
	};
}

/** The bound on how long a project waits; docs/simulation.md says why. */
export function patienceOf({ projects, activeProjects, nodes, attemptTimeoutMs, sendsInFlight }: Shape): Patience {
	const turns = activeProjects === null ? 0 : 4 * Math.ceil(projects / (activeProjects * nodes));
	const turnMs = turns === 0 ? 0 : turns * 6_000 + attemptTimeoutMs;
	// Where slots are few, receivers that hang may hold all of them.
	return { hearingMs: sendsInFlight === null ? 5_000 : 5_000 + 6 * attemptTimeoutMs, turnMs };
}
