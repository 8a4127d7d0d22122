import { expect, test } from "vitest";
import type { AttemptSummary, Params } from "../storage/port.ts";
import { DELIVERY_STATES, type DeliveryFilter, listDeliveries } from "./deliveries.ts";

const WEBHOOKS = ["wh_1", "wh_2"];
const TYPES = Array.from({ length: 15 }, (_, i) => `type_${i}`);
const ALL: DeliveryFilter = {
	...{ webhookIds: WEBHOOKS, types: TYPES, states: DELIVERY_STATES, unhandled: false },
};

/** A log that counts how often it is listed. The entry `i` is older than `i - 1`. */
class CountedLog {
	readonly #entries: readonly AttemptSummary[];
	lists = 0;

	constructor(count: number, entry: (i: number) => Partial<AttemptSummary>) {
		this.#entries = Array.from({ length: count }, (_, i) => {
			const id = `att_${String(count - i).padStart(6, "0")}`;
			const of = { webhookId: WEBHOOKS[0]!, eventType: TYPES[0]!, status: "delivered" as const };
			return {
				id,
				seq: i,
				eventId: `evt_${i}`,
				attempt: 1,
				replay: 0,
				statusCode: 200,
				...of,
				...entry(i),
			} as AttemptSummary;
		});
	}

	async listAttemptSummaries({ filter, page }: Params<"listAttemptSummaries">) {
		this.lists++;
		const { webhookIds, types, statuses } = filter;
		const { before = "~", limit } = page;
		const matching = this.#entries.filter(
			(one) =>
				one.id < before &&
				webhookIds?.includes(one.webhookId) !== false &&
				types?.includes(one.eventType) !== false &&
				statuses?.includes(one.status) !== false,
		);
		const rows = matching.slice(0, limit);
		return { rows, next: rows.length < matching.length ? rows.at(-1)!.id : null };
	}

	/** Each was followed by another attempt. */
	async readLatest({ deliveries }: Params<"readLatest">) {
		return deliveries.map(() => ({ newest: null, dismissed: false, next: null }));
	}

	readonly waitingAsked: number[] = [];

	/** Of each webhook, 150 replays wait for their first attempt. */
	async listWaitingRetries({ webhookId, limit }: Params<"listWaitingRetries">) {
		this.waitingAsked.push(limit);
		const of = {
			webhookId: webhookId!,
			queue: "replay" as const,
			eventType: TYPES[0]!,
			attempt: 1,
			replay: 1,
			dueAt: 0,
		};
		return Array.from({ length: Math.min(limit, 150) }, (_, seq) => ({ ...of, seq, eventId: `evt_${seq}` }));
	}
}

test("a page with limit=1 examines a thousand attempts in few queries", async () => {
	const log = new CountedLog(3_000, () => ({ status: "retrying" }));
	const { rows, next } = await listDeliveries(log, "p", ALL, { limit: 1 });
	expect([rows, next]).toEqual([[], expect.any(String)]);
	// What the page needs, and then 100 attempts at a time.
	expect(log.lists).toBe(1 + 10);
});

test("pages have everything, newest first, once", async () => {
	const log = new CountedLog(500, (i) => ({ webhookId: WEBHOOKS[i % 2]!, eventType: TYPES[(i * i) % 15]! }));
	const seen: string[] = [];
	let before: string | undefined;
	do {
		const { rows, next } = await listDeliveries(log, "p", ALL, { limit: 7, before });
		seen.push(...rows.map(({ eventId }) => eventId));
		before = next ?? undefined;
	} while (before !== undefined);
	expect(seen).toEqual(Array.from({ length: 500 }, (_, i) => `evt_${i}`));
});

test("nothing more is read once the client has left", async () => {
	const log = new CountedLog(3_000, () => ({ status: "retrying" }));
	await listDeliveries(log, "p", ALL, { limit: 1, isGone: () => log.lists >= 3 });
	expect(log.lists).toBe(3);
});

test("queues are read webhook by webhook, only until they have too many to list", async () => {
	const log = new CountedLog(0, () => ({}));
	const waiting = { ...ALL, types: TYPES, webhookIds: ["wh_1", "wh_2", "wh_3"], states: ["waiting" as const] };
	await listDeliveries(log, "p", waiting, { limit: 10 });
	expect(log.waitingAsked).toEqual([201, 51]);
});
