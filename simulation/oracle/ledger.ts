/**
 * What must be true of every project, derived from what the database did and when calls returned: which events
 * each webhook must get, and how far each delivery has come. It is rebuilt from the same happenings, without the last
 * ones, when the database continues from an earlier state.
 */
import type {
	HandedOver,
	Lease,
	NewAttempt,
	NewWebhook,
	WebhookPatch,
} from "../../packages/server/src/storage/port.ts";
import type { Happening } from "../happenings.ts";

export interface LedgerEvent {
	readonly id: string;
	/** Negative for a test event. */
	readonly seq: number;
	readonly type: string;
	readonly publishedAt: number;
	readonly body: Uint8Array;
	/** True time of the append. */
	readonly at: number;
}

export interface LedgerProject {
	readonly id: string;
	/** Event `seq` is at `seq - 1`. */
	readonly log: LedgerEvent[];
	readonly events: Map<string, LedgerEvent>;
	readonly webhooks: Map<string, LedgerWebhook>;
	tests: number;
}

export interface LedgerWebhook {
	readonly id: string;
	readonly projectId: string;
	url: string;
	/** For each type the number behind which its events are wanted. */
	readonly wanted: Map<string, number>;
	/** When types were removed, by true time: until the change returns, events that are appended may still be sent. */
	readonly takenOff: Map<string, number>;
	/**
	 * When types were added through a node that doesn't run the project, by true time: until the change returns, events that
	 * are appended may be left out.
	 */
	readonly addedElsewhere: Map<string, number>;
	status: "active" | "paused";
	/** True time when it last became active. */
	activeSince: number;
	maxInFlight: number;
	/** Each `max_in_flight` that it has had, and from when on, by true time. */
	readonly widths: { readonly at: number; readonly maxInFlight: number }[];
	/** The smallest of them. */
	narrowest: number;
	sealedDigest: Uint8Array;
	/** True time of its last change, of any kind. */
	changedAt: number;
	isDeleted: boolean;
	deletedAt: number | null;
	/** First series of events up to here are closed instead of retried. */
	skipThrough: number;
	/** By the event's number. */
	readonly deliveries: Map<number, Delivery>;
	/** Of these, those that are not over. */
	readonly open: Map<number, Delivery>;
}

/** An event on its way to a webhook, as what was settled says. */
export interface Delivery {
	readonly event: LedgerEvent;
	readonly webhook: LedgerWebhook;
	/** 0 for the first series. */
	series: number;
	/** The number of the next attempt; null when the series has ended. */
	next: number | null;
	/** When it is due, by a node's clock; milliseconds since the Unix epoch. */
	dueAt: number;
	/** True time since when it waits for this attempt. */
	since: number;
	/** Waits in a queue that a person filled: always due. */
	requested: boolean;
	/** A user made its next attempt due before its time. */
	early: boolean;
	/** Its owner does not want it any more, and it was never attempted: it may end without a trace. */
	dropped: boolean;
	/** All that were settled, of all series. */
	readonly attempts: NewAttempt[];
}

/** A change is answered or has failed within this time, milliseconds. */
const ANSWERED_WITHIN_MS = 60_000;

/** The holder of a project's lease. */
export interface Term {
	readonly node: string;
	generation: number;
	/** True time of the last call that gave or renewed it. */
	at: number;
}

export class Ledger {
	readonly projects = new Map<string, LedgerProject>();
	/** By URL, including previous URLs of webhooks. */
	readonly byUrl = new Map<string, LedgerWebhook>();
	readonly webhooks = new Map<string, LedgerWebhook>();
	/** By project, as the database holds it. */
	readonly leases = new Map<string, Term>();
	/** Attempts that former holders of a project may still settle. */
	readonly handedOver = new Map<string, HandedOver[]>();
	/** Log entries and events that began or were appended before may be gone. */
	attemptsSince = 0;
	eventsSince = 0;
	events = 0;
	/** All attempts that were settled, by id. */
	readonly attempts = new Map<string, NewAttempt>();
	/** True time when the database last went back: older leases hold for their duration from then on, even if they are kept. */
	#restoredAt = 0;

	/** Takes over what the database did. Other happenings change nothing. */
	apply(happening: Happening): void {
		const { at } = happening;
		switch (happening.kind) {
			case "project created":
				this.projects.set(happening.projectId, newProject(happening.projectId));
				break;
			case "appended": {
				const project = this.projects.get(happening.projectId);
				if (!project) break;
				for (const { seq, id, type, publishedAt, body } of happening.events)
					this.#append(project, { seq, id, type, publishedAt, body, at });
				break;
			}
			case "webhook created":
				this.#create(happening.webhook, at);
				break;
			case "webhook updated":
				this.#update(happening.node, happening.webhookId, happening.patch, at);
				break;
			case "answered":
				if (happening.act.act === "update" && happening.done)
					this.#inForce(happening.act.webhookId, happening.act.patch, happening.askedAt);
				break;
			case "secret rotated": {
				const webhook = this.webhooks.get(happening.webhookId);
				if (!webhook) break;
				webhook.sealedDigest = happening.sealedDigest;
				webhook.changedAt = at;
				break;
			}
			case "webhook deleted":
				this.#delete(happening.webhookId, at);
				break;
			case "app changed":
				if (!happening.installed)
					for (const webhook of this.projects.get(happening.projectId)?.webhooks.values() ?? [])
						if (!webhook.isDeleted) {
							webhook.status = "paused";
							webhook.changedAt = at;
						}
				break;
			case "test queued": {
				const project = this.projects.get(happening.projectId);
				const webhook = this.webhooks.get(happening.webhookId);
				if (!project || !webhook) break;
				project.tests += 1;
				const { id, type, body } = happening.event;
				const event = { id, type, body, seq: -project.tests, publishedAt: at, at };
				project.events.set(id, event);
				addDelivery(webhook, event, at, true);
				break;
			}
			case "replay begun": {
				const delivery = this.find(happening.projectId, happening.webhookId, happening.eventId);
				if (delivery) this.#replay(delivery, happening.dueAt, at, true);
				break;
			}
			case "replays begun":
				if (!happening.dryRun)
					for (const delivery of this.chosen(happening)) this.#replay(delivery, happening.before, at, false);
				break;
			case "retries made early": {
				const { projectId, webhookId, seqs, eventId, dueAt } = happening;
				const named = eventId === null ? null : this.find(projectId, webhookId, eventId);
				const deliveries = this.webhooks.get(webhookId)?.deliveries;
				const early = named ? [named] : (seqs ?? []).map((seq) => deliveries?.get(seq) ?? null);
				for (const delivery of early) if (delivery) this.#retryNow(delivery, dueAt, at);
				break;
			}
			case "settled":
				for (const attempt of happening.settlement.attempts) this.#settle(attempt, at);
				if (happening.handedOver) this.#takeOff(happening.settlement.projectId, happening.handedOver);
				break;
			case "leased":
			case "renewed":
				this.#lease(happening.node, happening.lease, at);
				break;
			case "kept":
				this.#lease(happening.node, happening.lease, this.#restoredAt);
				break;
			case "restored":
				this.#restoredAt = at;
				break;
			case "released": {
				const { projectId, generation } = happening.lease;
				if (this.leases.get(projectId)?.generation !== generation) break;
				this.leases.delete(projectId);
				if (happening.inFlight.length > 0)
					this.handedOver.set(projectId, [...(this.handedOver.get(projectId) ?? []), ...happening.inFlight]);
				break;
			}
			case "swept":
				if (happening.what === "attempts") this.attemptsSince = Math.max(this.attemptsSince, happening.cutoff);
				else this.eventsSince = Math.max(this.eventsSince, happening.cutoff);
				break;
		}
	}

	find(projectId: string, webhookId: string, eventId: string): Delivery | null {
		const event = this.projects.get(projectId)?.events.get(eventId);
		return (event && this.webhooks.get(webhookId)?.deliveries.get(event.seq)) ?? null;
	}

	/** The deliveries that a step of replaying by filter replays: finished ones whose last attempt failed, without tests. */
	chosen(step: Extract<Happening, { kind: "replays begun" }>): Delivery[] {
		const chosen: Delivery[] = [];
		for (const webhook of this.projects.get(step.projectId)?.webhooks.values() ?? []) {
			if (webhook.isDeleted || (step.webhookId !== null && webhook.id !== step.webhookId)) continue;
			for (const delivery of webhook.deliveries.values()) {
				const last = lastOf(delivery);
				// What retention may have taken from the log cannot be found in it.
				if (delivery.next !== null || last?.status !== "failed" || last.startedAt < this.attemptsSince) continue;
				if (delivery.event.seq < 0) continue;
				if (timeOf(last.id) >= step.before || (step.after !== null && last.id <= step.after)) continue;
				if (step.next !== null && last.id > step.next) continue;
				chosen.push(delivery);
			}
		}
		return chosen;
	}

	#append(project: LedgerProject, event: LedgerEvent): void {
		this.events += 1;
		project.log[event.seq - 1] = event;
		project.events.set(event.id, event);
		for (const webhook of project.webhooks.values())
			if (webhook.wanted.has(event.type))
				addDelivery(webhook, event, event.at, false).dropped = isRecent(
					webhook.addedElsewhere.get(event.type),
					event.at,
				);
			else if (isRecent(webhook.takenOff.get(event.type), event.at))
				addDelivery(webhook, event, event.at, false).dropped = true;
	}

	#create({ id, projectId, url, events, maxInFlight, sealedDigest }: NewWebhook, at: number): void {
		const project = this.projects.get(projectId)!;
		const wanted = new Map(events.map((type) => [type, project.log.length]));
		const webhook: LedgerWebhook = {
			...{ id, projectId, url, wanted, maxInFlight, sealedDigest },
			...{ widths: [{ at, maxInFlight }], narrowest: maxInFlight },
			...{ status: "active", activeSince: at, isDeleted: false, deletedAt: null, skipThrough: 0 },
			...{ deliveries: new Map(), open: new Map(), changedAt: at },
			...{ takenOff: new Map(), addedElsewhere: new Map() },
		};
		project.webhooks.set(id, webhook);
		this.webhooks.set(id, webhook);
		this.byUrl.set(url, webhook);
	}

	#update(node: string, webhookId: string, patch: WebhookPatch, at: number): void {
		const webhook = this.webhooks.get(webhookId);
		if (!webhook) return;
		webhook.changedAt = at;
		const end = this.projects.get(webhook.projectId)!.log.length;
		if (patch.url !== undefined) {
			webhook.url = patch.url;
			this.byUrl.set(patch.url, webhook);
		}
		if (patch.maxInFlight !== undefined) {
			webhook.maxInFlight = patch.maxInFlight;
			webhook.widths.push({ at, maxInFlight: patch.maxInFlight });
			webhook.narrowest = Math.min(webhook.narrowest, patch.maxInFlight);
		}
		if (patch.events !== undefined) {
			for (const type of [...webhook.wanted.keys()])
				if (!patch.events.includes(type)) {
					webhook.wanted.delete(type);
					webhook.takenOff.set(type, at);
				}
			const term = this.leases.get(webhook.projectId);
			for (const type of patch.events) {
				if (webhook.wanted.has(type)) continue;
				webhook.wanted.set(type, end);
				if (term && term.node !== node) webhook.addedElsewhere.set(type, at);
			}
		}
		if (patch.status !== undefined) {
			if (patch.status === "active" && webhook.status === "paused") webhook.activeSince = at;
			webhook.status = patch.status;
		}
		if (patch.from === "now") webhook.skipThrough = end;
		if (patch.events === undefined && patch.from !== "now") return;
		for (const delivery of webhook.open.values()) if (isFirst(delivery) && !isWanted(delivery)) delivery.dropped = true;
	}

	/** A change returned: the project's owner applies it, and those before it. */
	#inForce(webhookId: string, { events }: WebhookPatch, askedAt: number): void {
		const { addedElsewhere } = this.webhooks.get(webhookId) ?? {};
		for (const [type, at] of addedElsewhere ?? [])
			if (at < askedAt || events?.includes(type)) addedElsewhere!.delete(type);
	}

	#delete(webhookId: string, at: number): void {
		const webhook = this.webhooks.get(webhookId);
		if (!webhook) return;
		webhook.changedAt = at;
		webhook.isDeleted = true;
		webhook.deletedAt = at;
		for (const type of webhook.wanted.keys()) webhook.takenOff.set(type, at);
		webhook.wanted.clear();
		for (const delivery of webhook.open.values()) if (isFirst(delivery)) delivery.dropped = true;
	}

	#replay(delivery: Delivery, dueAt: number, at: number, requested: boolean): void {
		delivery.series += 1;
		delivery.next = 1;
		delivery.dueAt = dueAt;
		delivery.since = at;
		delivery.requested = requested;
		delivery.early = false;
		delivery.webhook.open.set(delivery.event.seq, delivery);
	}

	#retryNow(delivery: Delivery, dueAt: number, at: number): void {
		if (delivery.next === null || delivery.dueAt <= dueAt) return;
		delivery.dueAt = dueAt;
		delivery.since = at;
		delivery.early = true;
	}

	#settle(attempt: NewAttempt, at: number): void {
		this.attempts.set(attempt.id, attempt);
		const delivery = this.webhooks.get(attempt.webhookId)?.deliveries.get(attempt.seq);
		if (!delivery) return;
		delivery.attempts.push(attempt);
		delivery.dropped = false;
		delivery.requested = false;
		delivery.early = false;
		delivery.since = at;
		const isOver = attempt.status !== "retrying";
		delivery.next = isOver ? null : attempt.attempt + 1;
		delivery.dueAt = attempt.nextRetryAt ?? 0;
		if (isOver) delivery.webhook.open.delete(attempt.seq);
	}

	#lease(node: string, { projectId, generation }: Lease, at: number): void {
		const term = this.leases.get(projectId);
		if (term?.node === node) {
			term.generation = generation;
			term.at = Math.max(term.at, at);
		} else this.leases.set(projectId, { node, generation, at });
	}

	#takeOff(projectId: string, { webhookId, seq, replay }: HandedOver): void {
		const left = this.handedOver.get(projectId) ?? [];
		this.handedOver.set(
			projectId,
			left.filter((one) => one.webhookId !== webhookId || one.seq !== seq || one.replay !== replay),
		);
	}
}

/** Whether a change from this time on may still be unanswered at another. */
function isRecent(changedAt: number | undefined, at: number): boolean {
	return changedAt !== undefined && at - changedAt < ANSWERED_WITHIN_MS;
}

/** The largest `max_in_flight` that it has had since this time. */
export function widestSince({ widths }: LedgerWebhook, since: number): number {
	const first = Math.max(
		0,
		widths.findLastIndex(({ at }) => at <= since),
	);
	return Math.max(...widths.slice(first).map(({ maxInFlight }) => maxInFlight));
}

/** Whether it waits for the first attempt of its first series. */
export function isFirst({ series, next, event }: Delivery): boolean {
	return series === 0 && next === 1 && event.seq > 0;
}

/** Whether its webhook wants this event, by its subscriptions and where it was resumed from. */
export function isWanted({ webhook, event }: Delivery): boolean {
	if (event.seq < 0) return true;
	const from = webhook.wanted.get(event.type);
	return from !== undefined && event.seq > from && event.seq > webhook.skipThrough;
}

export function lastOf({ attempts }: Delivery): NewAttempt | undefined {
	return attempts.at(-1);
}

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

/** The time that an id carries: the first 48 bits of a UUIDv7 (RFC 9562); milliseconds since the Unix epoch. */
function timeOf(id: string): number {
	let ms = 0;
	for (const letter of id.slice(id.indexOf("_") + 1, id.indexOf("_") + 11)) ms = ms * 32 + ALPHABET.indexOf(letter);
	return ms;
}

function newProject(id: string): LedgerProject {
	return { id, log: [], events: new Map(), webhooks: new Map(), tests: 0 };
}

function addDelivery(webhook: LedgerWebhook, event: LedgerEvent, at: number, requested: boolean): Delivery {
	const delivery: Delivery = {
		...{ event, webhook, series: 0, next: 1, dueAt: 0, since: at },
		...{ requested, early: false, dropped: false, attempts: [] },
	};
	webhook.deliveries.set(event.seq, delivery);
	webhook.open.set(event.seq, delivery);
	return delivery;
}
