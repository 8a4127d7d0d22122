import fc from "fast-check";
import { expect, test } from "vitest";
import type { AttemptSummary, FollowedAttempt, LatestAttempt, Params, WaitingRetry } from "../storage/port.ts";
import { DELIVERY_STATES, type DeliveryFilter, isDeliveryPosition, listDeliveries } from "./deliveries.ts";

const WEBHOOKS = ["wh_1", "wh_2"];
const TYPES = Array.from({ length: 15 }, (_, i) => `type_${i}`);
const ALL: DeliveryFilter = {
	...{ webhookIds: WEBHOOKS, types: TYPES, states: DELIVERY_STATES, tests: null, unhandled: false },
};

/** A log that counts how often it is listed. The entry `i` is older than `i - 1`. */
class CountedLog {
	readonly entries: readonly AttemptSummary[];
	lists = 0;

	constructor(count: number, entry: (i: number) => Partial<AttemptSummary>) {
		this.entries = Array.from({ length: count }, (_, i) => {
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

	async listFollowedAttempts({ filter, page }: Params<"listFollowedAttempts">) {
		this.lists++;
		const { webhookIds, types, statuses } = filter;
		const { before = "~", limit } = page;
		const matching = this.entries.filter(
			(one) =>
				one.id < before &&
				webhookIds?.includes(one.webhookId) !== false &&
				types?.includes(one.eventType) !== false &&
				statuses?.includes(one.status) !== false,
		);
		const orderIds = (seq: number) => (page.orderIdBytes === undefined ? {} : { orderId: this.orderIdOf(seq) });
		const rows = matching.slice(0, limit).map((entry) => ({ ...this.follow(entry), ...orderIds(entry.seq) }));
		if (page.orderIdBytes !== undefined) this.orderIdsListed += rows.length;
		return { rows, next: rows.length < matching.length ? rows.at(-1)!.id : null };
	}

	/** Each was followed by another attempt. */
	follow(entry: AttemptSummary): FollowedAttempt {
		return { ...entry, isFollowed: true, dismissed: false, webhookDeleted: false, next: null };
	}

	async readLatest({ deliveries }: Params<"readLatest">): Promise<LatestAttempt[]> {
		return deliveries.map(() => ({ newest: null, dismissed: false, next: null }));
	}

	orderIdsListed = 0;
	orderIdsLookedUp = 0;
	readonly orderIdOf = (seq: number) => (seq % 2 === 1 ? `ord_${seq}` : null);

	async readOrderIds({ seqs, maxBytes }: Params<"readOrderIds">) {
		expect(maxBytes).toBeGreaterThan(0);
		this.orderIdsLookedUp += seqs.length;
		return seqs.flatMap((seq) => {
			const orderId = this.orderIdOf(seq);
			return orderId === null ? [] : [{ seq, orderId }];
		});
	}

	/** Replays that wait for their first attempt. */
	queued: readonly WaitingRetry[] = [];

	async listUnattempted({ limit, after = "wh_0 0 0 0" }: Params<"listUnattempted">) {
		const from = Number(after.split(" ")[3]);
		const end = from + limit;
		return { rows: this.queued.slice(from, end), next: end < this.queued.length ? `wh_1 1 0 ${end}` : null };
	}

	readonly waitingAsked: number[] = [];
	/** Each webhook's replays that wait for their first attempt. */
	unattempted = 150;

	async listWaitingRetries({ webhookId, limit }: Params<"listWaitingRetries">): Promise<WaitingRetry[]> {
		this.waitingAsked.push(limit);
		const of = {
			webhookId: webhookId!,
			queue: "replay" as const,
			eventType: TYPES[0]!,
			attempt: 1,
			replay: 1,
			dueAt: 0,
		};
		return Array.from({ length: Math.min(limit, this.unattempted) }, (_, seq) => ({
			...of,
			seq,
			eventId: `evt_${seq}`,
		}));
	}
}

test("a page with limit=1 examines a bounded number of attempts in few queries", async () => {
	const log = new CountedLog(3_000, () => ({ status: "retrying" }));
	const { rows, next } = await listDeliveries(log, "p", ALL, { limit: 1 });
	expect([rows, next]).toEqual([[], expect.any(String)]);
	// What the page needs, and then 100 attempts at a time.
	expect(log.lists).toBe(1 + 5);
});

test("a page of an order takes one query, even if some of its attempts were retried", async () => {
	const log = new CountedLog(100, (i) => (i % 10 === 5 ? { status: "retrying" } : {}));
	const delivered = log.entries.filter(({ status }) => status === "delivered");
	const filter = { ...ALL, seqs: log.entries.map(({ seq }) => seq) };
	const { rows, next } = await listDeliveries(log, "p", filter, { limit: 50 });
	expect(rows.map(({ seq }) => seq)).toEqual(delivered.slice(0, 50).map(({ seq }) => seq));
	expect([log.lists, log.orderIdsLookedUp]).toEqual([1, 0]);
	const rest = await listDeliveries(log, "p", filter, { limit: 50, before: next! });
	expect(rest.rows.map(({ seq }) => seq)).toEqual(delivered.slice(50).map(({ seq }) => seq));
	expect(rest.next).toBe(null);
});

test("order ids are read with a page, and of entries that may not be shown only if they are", async () => {
	const log = new CountedLog(500, (i) => (i < 400 ? { status: "failed" } : {}));
	const whole = await listDeliveries(log, "p", { ...ALL, states: ["failed"] }, { limit: 50 });
	expect(whole.rows.map(({ orderId }) => orderId)).toEqual(
		log.entries.slice(0, 50).map(({ seq }) => log.orderIdOf(seq)),
	);
	expect([log.orderIdsListed, log.orderIdsLookedUp]).toEqual([50, 0]);

	// All others have been replayed.
	log.follow = (entry) => ({
		...{ ...entry, isFollowed: entry.seq < 300, dismissed: false, webhookDeleted: false, next: null },
	});
	const few = await listDeliveries(log, "p", { ...ALL, states: ["failed"], unhandled: true }, { limit: 50 });
	expect(few.rows.map(({ orderId }) => orderId)).toEqual(
		log.entries.slice(300, 350).map(({ seq }) => log.orderIdOf(seq)),
	);
	expect([log.orderIdsListed, log.orderIdsLookedUp]).toEqual([100, 50]);
});

/** Each delivery's newest attempt, and pending retries; some were delivered. */
class SeriesLog extends CountedLog {
	readonly #pending: readonly { readonly seq: number; readonly last: AttemptSummary }[];
	readonly #newest = new Map<number, AttemptSummary>();
	/** How many of the attempts that were read weren't the last of their delivery. */
	passed = 0;

	/** @param series by `seq`: the attempts of a delivery as the times at which they were made, newest first */
	constructor(series: readonly { readonly ends: boolean; readonly times: readonly number[] }[]) {
		const all = series
			.flatMap(({ ends, times }, seq) => {
				const isLast = (i: number) => i === 0 && ends;
				return times.map((time, i) => ({
					time,
					seq,
					attempt: times.length - i,
					status: isLast(i) ? "delivered" : "retrying",
				}));
			})
			.sort((a, b) => b.time - a.time);
		super(all.length, (i) => ({ ...all[i]!, eventId: `evt_${all[i]!.seq}` }) as Partial<AttemptSummary>);
		for (const entry of this.entries) if (!this.#newest.has(entry.seq)) this.#newest.set(entry.seq, entry);
		this.#pending = [...this.#newest].flatMap(([seq, last]) => (last.status === "retrying" ? [{ seq, last }] : []));
	}

	override async listFollowedAttempts(p: Params<"listFollowedAttempts">) {
		const page = await super.listFollowedAttempts(p);
		this.passed += page.rows.filter(({ id, seq }) => this.#newest.get(seq)!.id !== id).length;
		return page;
	}

	override follow(entry: AttemptSummary): FollowedAttempt {
		const isFollowed = this.#newest.get(entry.seq)!.id !== entry.id;
		const next = isFollowed || entry.status !== "retrying" ? null : { replay: 0, dueAt: 0 };
		return { ...super.follow(entry), isFollowed, next };
	}

	override async readLatest({ deliveries }: Params<"readLatest">) {
		return deliveries.map(({ seq }) => {
			const newest = this.#newest.get(seq) ?? null;
			const next = newest?.status === "retrying" ? { attempt: newest.attempt + 1, replay: 0, dueAt: 0 } : null;
			return { newest, dismissed: false, next };
		});
	}

	override async listWaitingRetries({ limit }: Params<"listWaitingRetries">) {
		const of = { webhookId: WEBHOOKS[0]!, queue: "retry" as const, eventType: TYPES[0]!, replay: 0, dueAt: 0 };
		const retries = this.#pending.map(({ seq, last }) => {
			return { ...of, seq, eventId: `evt_${seq}`, attempt: last.attempt + 1 };
		});
		return [...retries, ...this.queued].slice(0, limit);
	}
}

test("few pending deliveries come from the queues, so no attempt is read that another one followed", async () => {
	const times = fc.array(fc.nat(1_000), { minLength: 1, maxLength: 5 });
	const series = fc.array(fc.record({ ends: fc.boolean(), times }), { maxLength: 40 });
	await fc.assert(
		fc.asyncProperty(series, fc.integer({ min: 1, max: 9 }), async (given, limit) => {
			const log = new SeriesLog(given.map(({ ends, times }) => ({ ends, times: [...times].sort((a, b) => b - a) })));
			const filter = { ...ALL, webhookIds: [WEBHOOKS[0]!], types: [TYPES[0]!] };
			const seen: string[] = [];
			const positions: string[] = [];
			for (let before: string | null | undefined; before !== null; ) {
				const page = await listDeliveries(log, "p", filter, { limit, before });
				expect(page.rows.length).toBeLessThanOrEqual(limit);
				seen.push(...page.rows.map(({ eventId, state }) => `${eventId} ${state}`));
				positions.push(...page.rows.map(({ last }) => last!.id));
				before = page.next;
			}
			expect(positions).toEqual([...positions].sort().reverse());
			expect(seen.sort()).toEqual(given.map(({ ends }, seq) => `evt_${seq} ${ends ? "delivered" : "waiting"}`).sort());
			expect(log.passed).toBe(0);
		}),
	);
});

test("rows have their events' order ids, except those of test events", async () => {
	const log = new CountedLog(6, (i) => ({ seq: i - 3 }));
	const { rows } = await listDeliveries(log, "p", ALL, { limit: 10 });
	expect(rows.map(({ seq, orderId }) => [seq, orderId])).toEqual([
		...[-3, -2, -1, 0].map((seq) => [seq, null]),
		[1, "ord_1"],
		[2, null],
	]);
});

// The list once left out those that the log doesn't show yet if more than 200 were pending, and had them all on its first
// page otherwise, regardless of its limit.
test("however many deliveries are pending, the list has each of them once", async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.integer({ min: 0, max: 40 }),
			fc.oneof(fc.nat(20), fc.integer({ min: 180, max: 230 })),
			fc.integer({ min: 1, max: 60 }),
			fc.boolean(),
			async (replays, retries, limit, isOfOne) => {
				const log = new SeriesLog(Array.from({ length: retries }, (_, i) => ({ ends: false, times: [i] })));
				const of = { webhookId: WEBHOOKS[0]!, queue: "replay" as const, attempt: 1, replay: 1, dueAt: 0 };
				log.queued = Array.from({ length: replays }, (_, i) => {
					const seq = 1_000 + i;
					return { ...of, seq, eventId: `evt_${seq}`, eventType: TYPES[i % 2]! };
				});
				const types = isOfOne ? [TYPES[0]!] : TYPES;
				const filter = { ...ALL, webhookIds: [WEBHOOKS[0]!], types, states: ["waiting" as const] };
				const seen: string[] = [];
				for (let before: string | null | undefined; before !== null; ) {
					const page = await listDeliveries(log, "p", filter, { limit, before });
					expect(page.rows.length).toBeLessThanOrEqual(limit);
					expect(page.next === null || /^att_\d+$/.test(page.next) || isDeliveryPosition(page.next)).toBe(true);
					seen.push(...page.rows.map(({ eventId }) => eventId));
					before = page.next;
				}
				const fitting = log.queued.filter(({ eventType }) => !isOfOne || eventType === TYPES[0]);
				const wanted = [
					...fitting.map(({ eventId }) => eventId),
					...Array.from({ length: retries }, (_, i) => `evt_${i}`),
				];
				expect(seen.toSorted()).toEqual(wanted.toSorted());
			},
		),
	);
});

// With more than 200 pending, it was on the page twice: before and after its first attempt.
test.each([20, 230])(
	"a replay that is attempted while a page is read is on it once, with %i pending",
	async (pending) => {
		const log = new SeriesLog(Array.from({ length: pending }, (_, i) => ({ ends: false, times: [i] })));
		const of = { webhookId: WEBHOOKS[0]!, queue: "replay" as const, attempt: 1, replay: 0, dueAt: 0 };
		log.queued = [{ ...of, seq: pending - 1, eventId: `evt_${pending - 1}`, eventType: TYPES[0]! }];
		const list = log.listUnattempted.bind(log);
		log.listUnattempted = async (p) => {
			const read = await list(p);
			log.queued = [];
			return read;
		};
		const filter = { ...ALL, webhookIds: [WEBHOOKS[0]!], states: ["waiting" as const] };
		const { rows } = await listDeliveries(log, "p", filter, { limit: 10 });
		expect(rows.map(({ seq }) => seq)).toEqual(Array.from({ length: 10 }, (_, i) => pending - 1 - i));
	},
);

// It was pending, with an attempt that had delivered it.
test("a delivery that ends while pending ones are read isn't listed as pending", async () => {
	const log = new SeriesLog([false, true].map((ends, seq) => ({ ends, times: [seq] })));
	const list = log.listWaitingRetries.bind(log);
	log.listWaitingRetries = async (p) => {
		const [one] = await list(p);
		return [one!, { ...one!, seq: 1, eventId: "evt_1" }];
	};
	const filter = { ...ALL, webhookIds: [WEBHOOKS[0]!], states: ["waiting" as const] };
	const { rows } = await listDeliveries(log, "p", filter, { limit: 10 });
	expect(rows.map(({ eventId }) => eventId)).toEqual(["evt_0"]);
});

test("a page of replays that wait takes few calls, even if none of thousands matches", async () => {
	const log = new CountedLog(0, () => ({}));
	log.unattempted = 5_000;
	log.queued = Array.from({ length: 5_000 }, (_, seq) => ({
		...{ webhookId: WEBHOOKS[0]!, queue: "replay" as const, attempt: 1, replay: 1, dueAt: 0 },
		...{ seq, eventId: `evt_${seq}`, eventType: TYPES[0]! },
	}));
	let calls = 0;
	const list = log.listUnattempted.bind(log);
	log.listUnattempted = (p) => {
		calls++;
		return list(p);
	};
	const filter = { ...ALL, types: [TYPES[1]!], states: ["waiting" as const] };
	const { rows, next } = await listDeliveries(log, "p", filter, { limit: 1 });
	expect([rows, next !== null && isDeliveryPosition(next)]).toEqual([[], true]);
	expect(calls).toBeGreaterThan(1);
	expect(calls).toBeLessThan(15);
});

test("replays that wait aren't searched for a response, which they don't have", async () => {
	const log = new CountedLog(0, () => ({}));
	log.unattempted = 5_000;
	log.listUnattempted = () => Promise.reject(new Error("They were read."));
	const response = { codes: [{ from: 503, to: 503 }], maxScanned: 500 };
	const filter = { ...ALL, response, states: ["waiting" as const] };
	expect(await listDeliveries(log, "p", filter, { limit: 10 })).toEqual({ rows: [], next: null });
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
