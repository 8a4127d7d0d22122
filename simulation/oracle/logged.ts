import type { NewAttempt } from "../../packages/server/src/storage/port.ts";
import type { Check, Witness } from "./check.ts";
import type { Delivery } from "./ledger.ts";
import type { Transfer } from "./wire.ts";

/** An outcome is settled within this time that its node runs, or it never is: its node dies, or loses the project. */
const SETTLED_WITHIN_MS = 10 * 60_000;

/**
 * The log shows what receivers saw. Every request is in it, or its node was lost before it settled, and the attempt was
 * made again; and it shows nothing that was not sent.
 */
export function logged(witness: Witness): Check {
	/** Until when nodes lived, and when projects changed hands or the database went back, by true time. */
	const died = new Map<string, number>();
	/** When nodes stood still. */
	const stood = new Map<string, { readonly from: number; to: number }[]>();
	const handed = new Map<string, number[]>();
	const refused = new Set<string>();
	const restores: number[] = [];

	function checkLogged(delivery: Delivery, attempt: NewAttempt, node: string): void {
		const { webhook, event } = delivery;
		const about = { projectId: webhook.projectId, webhookId: webhook.id, eventId: event.id };
		const name = `attempt ${attempt.attempt} of series ${attempt.replay}`;
		if (attempt.sent === null) {
			if (attempt.statusCode !== null)
				witness.broken(about, `${name} is logged with ${attempt.statusCode}, and without a request`);
			return;
		}
		const { signature, timestamp } = attempt.sent;
		const status = attempt.statusCode ?? 0;
		const matches = (one: Transfer): boolean => one.signature === signature && one.request.node === node;
		const transfers = witness.wire.of(webhook.id, event.id);
		const transfer = transfers.findLast((one) => one.status === status && matches(one)) ?? transfers.findLast(matches);
		if (!transfer) {
			witness.broken(about, `${name} is in the log, and no such request was sent by ${node}`);
			return;
		}
		if (transfer.timestamp !== String(timestamp) || transfer.request.url !== attempt.url)
			witness.broken(
				about,
				`${name} is logged as sent to ${attempt.url} at ${timestamp}, and was sent to ${transfer.request.url} at ${transfer.timestamp}`,
			);
		// A response may have come in the very moment when the attempt was given up.
		if (attempt.statusCode !== null && attempt.statusCode !== transfer.status)
			witness.broken(
				about,
				`${name} is logged with ${attempt.statusCode}, and the receiver responded ${transfer.status || "nothing"}`,
			);
		// There was a status line, and too much before it.
		const isMalformed = attempt.errorCode === "malformed_response" && transfer.request.behaviour.includes("interim");
		if (attempt.statusCode === null && transfer.status !== 0 && attempt.errorCode !== "timeout" && !isMalformed)
			witness.broken(about, `${name} is logged as ${attempt.errorCode}, and the receiver responded ${transfer.status}`);
	}

	function stoodMs(node: string, since: number, until: number): number {
		const spans = stood.get(node) ?? [];
		return spans.reduce((sum, { from, to }) => sum + Math.max(0, Math.min(to, until) - Math.max(from, since)), 0);
	}

	/** Why a request may be missing from the log, or null if it may not. */
	function excuse(transfer: Transfer): string | null {
		const { request, webhook, sentAt } = transfer;
		const { projectId } = webhook!;
		const isSoon = (at: number | undefined): boolean =>
			at !== undefined && at >= sentAt && at - sentAt < SETTLED_WITHIN_MS;
		const diedAt = died.get(request.node);
		if (diedAt !== undefined && isSoon(diedAt - stoodMs(request.node, sentAt, diedAt))) return "its node died";
		if (handed.get(projectId)?.some(isSoon)) return "the project changed hands";
		if (refused.has(transfer.signature)) return "the outcome was refused";
		if (restores.some(isSoon)) return "the database went back";
		const again = witness.wire.of(webhook!.id, transfer.eventId);
		const isStale = request.reused && transfer.status === 0;
		if (isStale && again.some((one) => one.request.no > request.no && one.request.node === request.node))
			return "its connection was closed already";
		// An event that was skipped in the meantime isn't sent again.
		if (isStale && isUnwanted(transfer)) return "its connection was closed already, and its owner left it out";
		return null;
	}

	function isUnwanted({ webhook, seq }: Transfer): boolean {
		const current = witness.ledger.webhooks.get(webhook!.id);
		const delivery = seq === null ? undefined : current?.deliveries.get(seq);
		return !current || current.isDeleted || current.status === "paused" || delivery?.dropped !== false;
	}

	return {
		promise: "the log shows every request, and nothing that was not sent",
		on(happening) {
			const { at } = happening;
			if (happening.kind === "crashed" || happening.kind === "stopped") died.set(happening.node, at);
			if (happening.kind === "froze")
				stood.set(happening.node, [...(stood.get(happening.node) ?? []), { from: at, to: Number.POSITIVE_INFINITY }]);
			if (happening.kind === "thawed") stood.get(happening.node)!.at(-1)!.to = at;
			if (happening.kind === "restored") restores.push(at);
			if (happening.kind === "leased") {
				const { projectId } = happening.lease;
				handed.set(projectId, [...(handed.get(projectId) ?? []), at]);
			}
			if (happening.kind === "settle refused")
				for (const { sent } of happening.attempts) if (sent) refused.add(sent.signature);
			if (happening.kind !== "settled") return;
			for (const attempt of happening.settlement.attempts) {
				const delivery = witness.ledger.webhooks.get(attempt.webhookId)?.deliveries.get(attempt.seq);
				if (delivery) checkLogged(delivery, attempt, happening.node);
			}
		},
		end() {
			for (const transfer of witness.wire.all()) {
				const { webhook, attempt, eventId, request } = transfer;
				if (transfer.logged || !webhook || !attempt) continue;
				const about = { projectId: webhook.projectId, webhookId: webhook.id, eventId };
				const name = `attempt ${attempt.number} of series ${attempt.series}`;
				const why = excuse(transfer);
				if (why === null) witness.broken(about, `request ${request.no} (${name}) of ${request.node} is not in the log`);
				const current = witness.ledger.webhooks.get(webhook.id);
				const delivery = transfer.seq === null ? undefined : current?.deliveries.get(transfer.seq);
				if (!current || !delivery || delivery.event.id !== eventId) continue;
				if (isUnwanted(transfer)) continue;
				// What the database lost may have been the attempts before it: then an earlier one was made again.
				const isLess = restores.some((at) => at >= transfer.sentAt);
				const isMade = delivery.attempts.some(
					(one) => one.replay === attempt.series && (isLess || one.attempt === attempt.number),
				);
				if (!isMade) witness.broken(about, `${name} was sent, not settled (${why}), and not made again`);
			}
		},
	};
}
