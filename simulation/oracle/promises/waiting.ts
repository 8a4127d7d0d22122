import type { Happening } from "../../happenings.ts";
import type { Shape } from "../../plan.ts";
import type { Check, Witness } from "../check.ts";
import { type Delivery, isFirst, type LedgerWebhook } from "../ledger.ts";
import { RECOVERY_MS } from "./quiet.ts";

/** How long a delivery that may be attempted waits at most while nothing is wrong, milliseconds. */
export interface Patience {
	/** The time until the project's owner is notified. */
	readonly hearingMs: number;
	/** The same for what a person asked for: a test event, or the replay of one delivery. */
	readonly requestMs: number;
	/** Requests of people that all projects together have slots for, where slots are few; null where they are not. */
	readonly requestSlots: number | null;
	/** Until its project has its turn, where more have work than a node runs at once. */
	readonly turnMs: number;
	/** Until retries that are connecting have left their room to others; null where slots are few. */
	readonly connectingMs: number | null;
}

/** The time until a project's owner has learned of new work, milliseconds. */
const HEARING_MS = 5_000;

/** The same for what a person asked for, milliseconds. */
const REQUEST_MS = 1_000;
/** Messages over the network before a request is received on a new connection, and calls of the database, at most. */
const MESSAGES = 8;
const CALLS = 8;

/** From this many webhooks on, the limit applies to the project rather than to each webhook. */
const MANY_WEBHOOKS = 50;

/** Retries of one webhook that may be in flight, at least. */
const OWN_RETRIES = 16;
/** Requests of people that each project has slots of its own for. */
const OWN_REQUESTS = 4;

/**
 * While nothing is wrong, no project waits for longer than the limit, whatever the others do. The time counts from the
 * moment when an attempt may be made: the event was appended, or the retry is due, and its lane has room. Regular checks
 * find deliveries that are never attempted.
 */
export function waiting(
	witness: Witness,
	{ hearingMs, requestMs, requestSlots, turnMs, connectingMs }: Patience,
): Check & { readonly longestMs: number } {
	const { quiet } = witness;
	/** By webhook, when an attempt of it last ended; and when one did while it had as many in flight as it allows. */
	const endedAt = new Map<string, number>();
	const roomSince = new Map<string, number>();
	/** The same for retries; and when one of its attempts ended that was never visible, since such attempts take room, too. */
	const retryRoomSince = new Map<string, number>();
	/** By webhook, when a first attempt was last sent. Invisible ones that are still connecting hold slots, too. */
	const firstSentAt = new Map<string, number>();
	/** When a person's request was last settled: by project, and of any. */
	const requestEndedAt = new Map<string, number>();
	let lastRequestEndedAt = 0;
	/** By project, when it was served last. */
	const served = new Map<string, number>();
	let longestMs = 0;
	/** Whether it waits only for room among its webhook's retries. Where slots are few, it also waits for one of these. */
	const isOwnRetry = ({ next }: Delivery): boolean => connectingMs !== null && next !== null && next > 1;

	/** Since when this attempt could have been made, by true time, unless a person requested it. */
	function possibleSince(delivery: Delivery, now: number, nodeNow: number): number {
		const { webhook } = delivery;
		const first = isFirst(delivery);
		// A retry's time is one of a node's clock.
		const dueAt = first ? delivery.since : now - (nodeNow - delivery.dueAt);
		const { size } = witness.ledger.projects.get(webhook.projectId)!.webhooks;
		return Math.max(
			// Many webhooks of one project share its part of the node.
			size > MANY_WEBHOOKS ? (served.get(webhook.projectId) ?? 0) : 0,
			dueAt,
			delivery.since,
			quiet.since,
			webhook.activeSince,
			(first ? roomSince : isOwnRetry(delivery) ? retryRoomSince : endedAt).get(webhook.id) ?? 0,
		);
	}

	function judge(delivery: Delivery, since: number, now: number, extraMs = 0): void {
		const { event, webhook, next } = delivery;
		const waitedMs = now - since;
		longestMs = Math.max(longestMs, waitedMs);
		// A retry is timed by the monotonic clock: it may be late by as much as the time of day was set.
		const boundMs = (delivery.requested ? requestMs : hearingMs) + turnMs + witness.disagreementMs() + extraMs;
		if (waitedMs > boundMs)
			witness.broken(
				{ projectId: webhook.projectId, webhookId: webhook.id, eventId: event.id },
				`number ${event.seq} has waited for ${waitedMs} ms for attempt ${next}, expected at most ${boundMs} ms`,
			);
	}

	/** What a person asked for waits for no other attempt of its webhook, unless it is one of many requests. */
	function judgeRequest(delivery: Delivery, now: number, nodeNow: number): void {
		const { webhook, event, series } = delivery;
		const wasSent = witness.wire.of(webhook.id, event.id).some(({ attempt }) => attempt?.series === series);
		if (wasSent || isHandedOver(webhook, nodeNow)) return;
		const { webhooks, projects } = witness.ledger;
		const isShared = requestSlots !== null;
		let requests = 0;
		for (const { open } of (isShared ? webhooks : projects.get(webhook.projectId)!.webhooks).values())
			for (const { requested } of open.values()) if (requested) requests += 1;
		if (requests > (requestSlots ?? OWN_REQUESTS)) return;
		const endedAt = isShared ? lastRequestEndedAt : (requestEndedAt.get(webhook.projectId) ?? 0);
		const since = Math.max(delivery.since, quiet.since, webhook.activeSince, endedAt);
		if (since <= now) judge(delivery, since, now);
	}

	function sent(happening: Extract<Happening, { kind: "sent" }>): void {
		const { request, at } = happening;
		const { webhook, seq } = witness.wire.read(request, at);
		const delivery = seq === null ? undefined : webhook?.deliveries.get(seq);
		if (!webhook || !delivery || delivery.next === null) return;
		if (delivery.requested) {
			judgeRequest(delivery, at, witness.nodeNow(request.node));
			return;
		}
		const lastSentAt = firstSentAt.get(webhook.id) ?? 0;
		if (isFirst(delivery)) firstSentAt.set(webhook.id, at);
		// Whether the attempts before have ended is not seen from outside until they are settled.
		const { wire } = witness;
		if (isFirst(delivery)) {
			if (wire.unsettledFirst(webhook.id) >= webhook.narrowest) return;
		} else if (isOwnRetry(delivery)) {
			if (wire.unsettledRetries(webhook.id) >= OWN_RETRIES) return;
		} else if (wire.unsettled(webhook.id) > 0 || webhook.open.size >= OWN_RETRIES) return;
		const since = Math.max(
			possibleSince(delivery, at, witness.nodeNow(request.node)),
			isFirst(delivery) ? lastSentAt : 0,
		);
		served.set(webhook.projectId, at);
		// Retries that are connecting take room, and can't be seen.
		if (quiet.since <= at) judge(delivery, since, at, isOwnRetry(delivery) ? (connectingMs ?? 0) : 0);
	}

	/** Whether an invisible attempt may be in flight. */
	function isHandedOver({ id, projectId }: LedgerWebhook, nodeNow: number): boolean {
		const attempts = witness.ledger.handedOver.get(projectId) ?? [];
		return attempts.some(({ webhookId, until }) => webhookId === id && until + RECOVERY_MS > nodeNow);
	}

	return {
		promise: "no project waits longer than the limit while others are served",
		get longestMs() {
			return longestMs;
		},
		on(happening) {
			if (happening.kind === "settled")
				for (const { webhookId, seq, sent } of happening.settlement.attempts) {
					const { narrowest = 1, deliveries } = witness.ledger.webhooks.get(webhookId) ?? {};
					if (deliveries?.get(seq)?.requested) {
						requestEndedAt.set(happening.settlement.projectId, happening.at);
						lastRequestEndedAt = happening.at;
					}
					endedAt.set(webhookId, happening.at);
					if (witness.wire.unsettledFirst(webhookId) >= narrowest) roomSince.set(webhookId, happening.at);
					if (sent === null || witness.wire.unsettledRetries(webhookId) >= OWN_RETRIES)
						retryRoomSince.set(webhookId, happening.at);
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
				for (const delivery of webhook.open.values()) if (delivery.requested) judgeRequest(delivery, now, nodeNow);
				if (witness.wire.unsettled(webhook.id) > 0 || isHandedOver(webhook, nodeNow)) continue;
				for (const delivery of webhook.open.values())
					if (!delivery.dropped && !delivery.requested)
						judge(delivery, Math.max(possibleSince(delivery, now, nodeNow), endedAt.get(webhook.id) ?? 0), now);
			}
		},
	};
}

/** The bound on how long a project waits; docs/simulation-limits.md says why. */
export function patienceOf(shape: Shape): Patience {
	const { projects, activeProjects, nodes, attemptTimeoutMs, sendsInFlight } = shape;
	const turns = activeProjects === null ? 0 : 4 * Math.ceil(projects / (activeProjects * nodes));
	const turnMs = turns === 0 ? 0 : turns * 6_000 + attemptTimeoutMs;
	// Where slots are few, receivers that hang may hold all of them, except those for requests.
	const hearingMs = sendsInFlight === null ? HEARING_MS : HEARING_MS + 6 * attemptTimeoutMs;
	const connectingMs = sendsInFlight === null ? 2 * attemptTimeoutMs : null;
	// A node reserves an eighth of its slots for requests.
	const requestSlots = sendsInFlight === null ? null : Math.min(OWN_REQUESTS, Math.floor(sendsInFlight / 8));
	const requestMs = REQUEST_MS + MESSAGES * shape.networkLatencyMs + CALLS * shape.databaseLatencyMs;
	return { hearingMs, requestMs, requestSlots, turnMs, connectingMs };
}
