import { BlockList, isIPv6 } from "node:net";
import type { Act } from "../../happenings.ts";
import type { Check, Witness } from "../check.ts";
import { isWanted } from "../ledger.ts";

/** Networks that are not public: the machine's own, private ones, those of the link, and all others set aside (RFC 6890). */
const REFUSED = new BlockList();
for (const [network, bits] of [
	["0.0.0.0", 8],
	["10.0.0.0", 8],
	["100.64.0.0", 10],
	["127.0.0.0", 8],
	["169.254.0.0", 16],
	["172.16.0.0", 12],
	["192.0.2.0", 24],
	["192.168.0.0", 16],
	["198.18.0.0", 15],
	["224.0.0.0", 3],
] as const)
	REFUSED.addSubnet(network, bits);
for (const [network, bits] of [
	["::", 127],
	["2001:db8::", 32],
	["fc00::", 7],
	["fe80::", 10],
	["ff00::", 8],
] as const)
	REFUSED.addSubnet(network, bits, "ipv6");

/** What an owner was promised by answers: how a webhook was then. */
interface Promised {
	paused: boolean;
	deleted: boolean;
	wanted: ReadonlyMap<string, number> | null;
	skipThrough: number;
}

/**
 * Nothing is sent to the wrong project, to an old URL, or to a webhook that is deleted, paused or not subscribed, once the
 * change was answered, or was stored a quiet while ago; and what is sent is the event, byte for byte. No connection is even begun to an address that is
 * not public.
 */
export function targets(witness: Witness): Check {
	const promised = new Map<string, Promised>();
	/** URLs that a webhook had before a change that was answered. */
	const left = new Map<string, string>();
	/** URLs that webhooks have had, and whose they were. */
	const urls = new Map<string, { readonly id: string; readonly projectId: string }>();

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
				for (const [other, { id }] of urls) if (id === webhook.id && other !== url) left.set(other, id);
		}
	}

	return {
		promise: "nothing is sent to a webhook that does not want it",
		on(happening) {
			if (happening.kind === "webhook created") urls.set(happening.webhook.url, happening.webhook);
			if (happening.kind === "webhook updated") {
				const { webhookId, projectId, patch } = happening;
				if (patch.url !== undefined) urls.set(patch.url, { id: webhookId, projectId });
				// A stored change replaces earlier promises: a later pause counts from its own response.
				const known = of(webhookId);
				if (patch.status === "active") known.paused = false;
				if (patch.events?.some((type) => known.wanted?.has(type) === false)) known.wanted = null;
			}
			if (happening.kind === "restored") {
				promised.clear();
				left.clear();
			}
			if (happening.kind === "answered" && happening.done) answered(happening.act);
			if (happening.kind === "connecting" && REFUSED.check(happening.address, family(happening.address)))
				witness.broken({}, `${happening.node} began to connect to ${happening.address}, which is refused`);
			if (happening.kind !== "sent") return;
			const { request, at } = happening;
			const { webhook, eventId, seq } = witness.wire.read(request, at);
			if (!webhook) {
				// The node may not know yet that the URL is lost.
				const lost = urls.get(request.url);
				if (lost && witness.isUnsettled(lost.projectId, request.node)) return;
				witness.broken({ eventId }, `it was sent to ${request.url}, which no webhook has had`);
				return;
			}
			const isInForce = witness.isInForce(webhook);
			if ((isInForce || left.has(request.url)) && webhook.url !== request.url)
				witness.broken(
					{ projectId: webhook.projectId, webhookId: webhook.id, eventId },
					`it was sent to ${request.url} after the change of the URL was in force`,
				);
			const { projectId } = webhook;
			const about = { projectId, webhookId: webhook.id, eventId };
			if (seq === null) {
				if (!witness.isUnsettled(webhook.projectId, request.node))
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
			if (delivery.next === null && !witness.isUnsettled(projectId, request.node))
				witness.broken(about, `number ${seq} was sent, and its delivery had ended`);
			const known = of(webhook.id);
			if ((isInForce || known.deleted) && webhook.isDeleted)
				witness.broken(about, "it was sent after the deletion of its webhook was in force");
			if ((isInForce || known.paused) && webhook.status === "paused")
				witness.broken(about, "it was sent after the pause of its webhook was in force");
			const { type } = delivery.event;
			const from = known.wanted === null ? 0 : known.wanted.get(type);
			const wasWanted = !isInForce && from !== undefined && seq > from && seq > known.skipThrough;
			if (delivery.series === 0 && seq > 0 && !wasWanted && !isWanted(delivery))
				witness.broken(about, `number ${seq} (${type}) was sent though its webhook does not want it any more`);
		},
	};
}

function family(address: string): "ipv4" | "ipv6" {
	return isIPv6(address) ? "ipv6" : "ipv4";
}
