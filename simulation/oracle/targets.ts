import type { Act } from "../happenings.ts";
import type { Check, Witness } from "./check.ts";
import { isWanted } from "./ledger.ts";

/** What an owner was promised by answers: how a webhook was then. */
interface Promised {
	paused: boolean;
	deleted: boolean;
	wanted: ReadonlyMap<string, number> | null;
	skipThrough: number;
}

/**
 * Nothing is sent to the wrong project, to an old URL, or to a webhook that is deleted, paused or not subscribed, once the
 * change was answered; and what is sent is the event, byte for byte.
 */
export function targets(witness: Witness): Check {
	const promised = new Map<string, Promised>();
	/** URLs that a webhook had before a change that was answered. */
	const left = new Map<string, string>();
	/** URLs that webhooks have had, and whose they were. */
	const urls = new Map<string, string>();

	function of(webhookId: string): Promised {
		const known = promised.get(webhookId) ?? { paused: false, deleted: false, wanted: null, skipThrough: 0 };
		promised.set(webhookId, known);
		return known;
	}

	/** A change was answered: of what it changed, what is stored holds from now on. */
	function answered(act: Act): void {
		if (act.act === "app") {
			if (act.installed) return;
			for (const { id, status } of witness.ledger.projects.get(act.projectId)?.webhooks.values() ?? [])
				of(id).paused = status === "paused";
			return;
		}
		if (act.act !== "delete" && !("patch" in act)) return;
		const webhook = witness.ledger.webhooks.get(act.webhookId);
		if (!webhook) return;
		const known = of(webhook.id);
		if (!("patch" in act)) known.deleted = webhook.isDeleted;
		else {
			const { status, events, from, url } = act.patch;
			if (status === "paused") known.paused = webhook.status === "paused";
			if (events?.every((type) => webhook.wanted.has(type)) && events.length === webhook.wanted.size)
				known.wanted = new Map(webhook.wanted);
			if (from === "now") known.skipThrough = webhook.skipThrough;
			if (url === webhook.url)
				for (const [other, id] of urls) if (id === webhook.id && other !== url) left.set(other, id);
		}
	}

	return {
		promise: "nothing is sent to a webhook that does not want it",
		on(happening) {
			if (happening.kind === "webhook created") urls.set(happening.webhook.url, happening.webhook.id);
			if (happening.kind === "webhook updated" && happening.patch.url !== undefined)
				urls.set(happening.patch.url, happening.webhookId);
			if (happening.kind === "restored") {
				promised.clear();
				left.clear();
			}
			if (happening.kind === "answered" && happening.done) answered(happening.act);
			if (happening.kind !== "sent") return;
			const { request, at } = happening;
			const { webhook, eventId, seq } = witness.wire.read(request, at);
			if (!webhook) {
				witness.broken({ eventId }, `it was sent to ${request.url}, which is nobody's`);
				return;
			}
			if (left.has(request.url) && webhook.url !== request.url)
				witness.broken(
					{ projectId: webhook.projectId, webhookId: webhook.id, eventId },
					`it was sent to ${request.url} after the change of the URL was answered`,
				);
			const { projectId } = webhook;
			const about = { projectId, webhookId: webhook.id, eventId };
			if (seq === null) {
				if (!witness.isUnsettled(projectId))
					witness.broken(about, "it was sent, and is in no log of this webhook's project");
				return;
			}
			const { body } = witness.ledger.projects.get(projectId)!.events.get(eventId)!;
			if (Buffer.compare(body, request.body) !== 0) witness.broken(about, "other bytes were sent than were published");
			const delivery = webhook.deliveries.get(seq);
			if (!delivery) {
				witness.broken(about, `number ${seq} was sent to a webhook that is not subscribed to it`);
				return;
			}
			if (delivery.next === null && !witness.isUnsettled(projectId))
				witness.broken(about, `number ${seq} was sent, and its delivery was over`);
			const known = promised.get(webhook.id);
			if (!known) return;
			if (known.deleted && webhook.isDeleted)
				witness.broken(about, "it was sent after the deletion of its webhook was answered");
			if (known.paused && webhook.status === "paused")
				witness.broken(about, "it was sent after the pause of its webhook was answered");
			const { type } = delivery.event;
			const from = known.wanted === null ? 0 : known.wanted.get(type);
			const wasWanted = from !== undefined && seq > from && seq > known.skipThrough;
			if (delivery.series === 0 && seq > 0 && !wasWanted && !isWanted(delivery))
				witness.broken(
					about,
					`number ${seq} (${type}) was sent after the answer that its webhook does not want it any more`,
				);
		},
	};
}
