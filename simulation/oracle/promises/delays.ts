import type { Check, Witness } from "../check.ts";
import { lastOf } from "../ledger.ts";

/** The maximum drift of a clock, seconds per second. */
const DRIFT = 0.001;
/** A clock that moved by more than this between two looks was set, milliseconds. */
const SET_MS = 100;
/** So long after a clock was set each node has noticed, milliseconds. */
const NOTICED_MS = 60_000;
/** Two nodes take clocks that differ by half a second for one (storage/shared/leases.ts). Twice that, and the way. */
const MEASURED_MS = 1_500;

/** What a node's clock showed. */
interface Reading {
	/** Since when, by true time. */
	readonly at: number;
	/** Its distance from true time, milliseconds. */
	readonly aheadMs: number;
}

/**
 * No attempt is made before it is due, by the clock of the node that makes it, unless clocks disagree or a user made it
 * early.
 */
export function delays(witness: Witness): Check {
	/** By node, each time that it differed by a millisecond: all that applied within an attempt's timeout, the latest last. */
	const readings = new Map<string, Reading[]>();
	/** When a clock was last found to have been set, by true time. */
	let setAt = Number.NEGATIVE_INFINITY;
	/** By webhook and number, when the next attempt is due, by true time: nodes convert times to their own clocks. */
	const dueAt = new Map<string, number>();

	function readClock(node: string): void {
		const now = witness.now();
		const aheadMs = witness.nodeNow(node) - now;
		const recent = readings.get(node) ?? [];
		const last = recent.at(-1);
		if (last === undefined || Math.abs(aheadMs - last.aheadMs) > SET_MS) setAt = now;
		if (last === undefined || Math.abs(aheadMs - last.aheadMs) >= 1) recent.push({ at: now, aheadMs });
		while (recent.length > 1 && recent[1]!.at < now - witness.facts.attemptTimeoutMs) recent.shift();
		readings.set(node, recent);
	}

	/**
	 * The latest time that a node's clock may have shown when it began an attempt that it sends now: the clock may have
	 * been set back since.
	 */
	const latestNow = (node: string): number =>
		Math.max(witness.nodeNow(node), ...readings.get(node)!.map(({ aheadMs }) => witness.now() + aheadMs));

	return {
		promise: "the delays between attempts are as configured",
		on(happening) {
			if (happening.kind === "leased" || happening.kind === "renewed" || happening.kind === "settled")
				readClock(happening.node);
			if (happening.kind === "settled")
				for (const { webhookId, seq, nextRetryAt } of happening.settlement.attempts)
					if (nextRetryAt !== null)
						dueAt.set(`${webhookId}/${seq}`, nextRetryAt - witness.nodeNow(happening.node) + happening.at);
			if (happening.kind !== "sent") return;
			readClock(happening.request.node);
			const { request, at } = happening;
			const { webhook, seq, eventId } = witness.wire.read(request, at);
			const delivery = seq === null ? undefined : webhook?.deliveries.get(seq);
			if (!webhook || !delivery || delivery.next === null || delivery.requested || delivery.early) return;
			const about = { projectId: webhook.projectId, webhookId: webhook.id, eventId };
			const earlyMs = delivery.dueAt - latestNow(request.node);
			const last = lastOf(delivery);
			if (earlyMs <= 0 || witness.isUnsettled(webhook.projectId, request.node)) return;
			const hasLearnt = delivery.since > setAt + NOTICED_MS;
			const disagreementMs = Math.min(witness.disagreementMs(), hasLearnt ? MEASURED_MS : Number.POSITIVE_INFINITY);
			if (disagreementMs === 0) {
				witness.broken(about, `attempt ${delivery.next} was made ${earlyMs} ms before it was due`);
				return;
			}
			// By true time, from the end of the previous attempt.
			const ended = witness.wire
				.of(webhook.id, eventId)
				.findLast(({ signature }) => signature === last?.sent?.signature);
			const delayMs = last?.status === "retrying" ? witness.facts.retryDelaysMs[last.attempt - 1]! : 0;
			// The end of an attempt that sent nothing isn't visible; the clock of the node that settled it says when it was.
			if (delivery.next > 1 && last?.sent === null) {
				const dueInMs = (dueAt.get(`${webhook.id}/${seq}`) ?? at) - at;
				if (Math.min(earlyMs, dueInMs) > disagreementMs)
					witness.broken(about, `attempt ${delivery.next} was made ${earlyMs} ms before it was due`);
				return;
			}
			const waitedMs = at - (ended?.endedAt ?? delivery.since);
			if (waitedMs < delayMs * (1 - DRIFT) - disagreementMs)
				witness.broken(
					about,
					`attempt ${delivery.next} was made ${waitedMs} ms after the previous one, expected ${delayMs} ms`,
				);
		},
	};
}
