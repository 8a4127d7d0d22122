import { Signal, until } from "@posthorn/testkit";
import { expect, test } from "vitest";
import { mostOvertaken } from "./order.ts";
import { seeded } from "./random.ts";
import { purchase, Shop } from "./shop.ts";

const CRASHES = 25;
const RECEIVERS = 3;
/** The one that sometimes fails. */
const FAILING = 0;
/** The one whose webhook has several requests in flight, and how many. */
const WIDE = 2;
const WIDTH = 4;
/**
 * A publisher's pause between calls, milliseconds: something is always in progress, and there is little to catch up on.
 */
const PACE_MS = 20;
/** How long a service lives under load before it is killed, milliseconds. */
const LIFE_MS = [10, 250] as const;
/** Three services of four acknowledge this many events before that, however slow the machine is. */
const LEAST_EVENTS = 2;

interface Arrival {
	readonly n: number;
	readonly eventId: string;
	readonly answer: number;
	/** How many crashes had happened before. */
	readonly life: number;
}

test(`${CRASHES} times kill -9 under load: every acknowledged event arrives everywhere, in order, and the log tells the truth`, {
	timeout: 600_000,
}, async () => {
	const seed = Number(process.env.CRASH_SEED ?? Date.now() % 1_000_000);
	console.log(`CRASH_SEED=${seed}`);
	const random = seeded(seed);
	await using shop = await Shop.open({ POSTHORN_RETRY_DELAYS: "0.2,0.2,0.2,0.2,0.2,0.2,0.2" });

	// One receiver responds to some events with 500, twice.
	const arrivals: Arrival[][] = [];
	const webhooks: string[] = [];
	let life = 0;
	let inFlight = 0;
	let mostInFlight = 0;
	for (let r = 0; r < RECEIVERS; r++) {
		const seen: Arrival[] = [];
		arrivals.push(seen);
		const times = new Map<string, number>();
		const receiver = await shop.receiver({
			keep: 1,
			respond: async (request) => {
				const event = JSON.parse(request.rawBody.toString());
				const before = times.get(event.id) ?? 0;
				times.set(event.id, before + 1);
				const answer = r === FAILING && before < 2 && event.data.n % 7 === 0 ? 500 : 200;
				expect(request.verified).toBe(true);
				seen.push({ n: event.data.n, eventId: event.id, answer, life });
				if (r === WIDE) {
					inFlight += 1;
					mostInFlight = Math.max(mostInFlight, inFlight);
					await new Promise((resolve) => setImmediate(resolve));
					inFlight -= 1;
				}
				return { status: answer };
			},
		});
		webhooks.push((await shop.webhook(receiver.url(`/${r}`), { max_in_flight: r === WIDE ? WIDTH : 1 })).id);
	}

	// Publishers continue through every crash; only acknowledged events count.
	const acknowledged = new Map<number, string>();
	let next = 0;
	let publishing = true;
	let isUp = true;
	const up = new Signal();
	const acknowledges = new Signal();
	const publisher = async (): Promise<void> => {
		while (publishing) {
			const events = Array.from({ length: 1 + Math.floor(random() * 8) }, () => purchase(next++));
			try {
				const { status, body } = await shop.post(shop.path("/events"), { events });
				if (status === 202)
					for (const [i, { id }] of body.events.entries())
						acknowledged.set((events[i] as { data: { n: number } }).data.n, id);
				acknowledges.look();
			} catch {
				await up.until("the service to be back", () => isUp);
			}
			await new Promise((resolve) => setTimeout(resolve, PACE_MS));
		}
	};
	const publishers = Array.from({ length: 4 }, publisher);
	for (let crash = 0; crash < CRASHES; crash++) {
		const least = acknowledged.size + (crash % 4 === 0 ? 0 : LEAST_EVENTS);
		await acknowledges.until("events to be acknowledged", () => acknowledged.size >= least);
		await new Promise((resolve) => setTimeout(resolve, LIFE_MS[0] + random() * (LIFE_MS[1] - LIFE_MS[0])));
		isUp = false;
		await shop.service.kill();
		// What the dead process had written may still arrive: it belongs to its life.
		await until("connections to close", () => shop.receivers.every((receiver) => receiver.openConnections === 0));
		life += 1;
		await shop.start();
		isUp = true;
		up.look();
	}
	publishing = false;
	await Promise.all(publishers);
	expect(acknowledged.size).toBeGreaterThan(CRASHES);

	// Everything stored (the acknowledged events, and those stored just before a crash) ends as delivered.
	const log = await shop.all(shop.path("/events"));
	const stored = new Map(log.map((event) => [event.id as string, event.data.n as number]));
	for (const id of acknowledged.values()) expect(stored.has(id)).toBe(true);
	const isDone = (): boolean =>
		arrivals.every((seen) => new Set(seen.filter((a) => a.answer === 200).map((a) => a.eventId)).size === stored.size);
	await until("all events to be delivered everywhere", async () => {
		await new Promise((resolve) => setTimeout(resolve, 20));
		return isDone();
	});

	expect(mostInFlight).toBeGreaterThan(1);
	expect(mostInFlight).toBeLessThanOrEqual(WIDTH);

	const order = [...stored.keys()];
	for (const [r, seen] of arrivals.entries()) {
		// First arrivals are in log order, or as far from it as there are requests in flight.
		const first = seen.map((a) => a.eventId);
		if (r === WIDE) expect(mostOvertaken(first, order)).toBeLessThan(WIDTH);
		else expect([...new Set(first)]).toEqual(order);

		const attempts = await settledAttempts(shop, webhooks[r]!, stored.size);
		const byEvent = Map.groupBy(attempts, (attempt) => attempt.event_id as string);
		let repeats = 0;
		for (const [eventId, rows] of byEvent) {
			// The log never skips or repeats an attempt number, and never claims more than the receiver saw.
			expect(rows.map((row) => row.attempt).sort()).toEqual(rows.map((_, i) => i + 1));
			const seenOfIt = seen.filter((a) => a.eventId === eventId);
			expect(rows.length).toBeLessThanOrEqual(seenOfIt.length);
			expect(rows.filter((row) => row.status === "delivered")).toHaveLength(1);
			repeats += seenOfIt.length - rows.length;
		}
		console.log(
			`receiver ${r}: ${order.length} events, ${seen.length} requests, ${repeats} unsettled attempts made again`,
		);

		// A receiver that accepts everything sees each life go through the log in order and without gaps, starting at the
		// last commit: never before the start of an earlier life, never after what had been sent.
		if (r === FAILING || r === WIDE) continue;
		const place = new Map(order.map((eventId, i) => [eventId, i]));
		let begun = 0;
		let reached = -1;
		for (const arrivals of Map.groupBy(seen, (arrival) => arrival.life).values()) {
			const places = arrivals.map((arrival) => place.get(arrival.eventId)!);
			const [start] = places as [number];
			expect(places).toEqual(places.map((_, i) => start + i));
			expect(start).toBeGreaterThanOrEqual(begun);
			expect(start).toBeLessThanOrEqual(reached + 1);
			begun = start;
			reached = Math.max(reached, places.at(-1)!);
		}
	}
});

/** The webhook's log once every event has a `delivered` entry: the last commits may come after the last responses. */
// biome-ignore lint/suspicious/noExplicitAny: rows as the API gives them
async function settledAttempts(shop: Shop, webhookId: string, events: number): Promise<any[]> {
	return until("all deliveries to be logged", async () => {
		const rows = await shop.all(shop.path(`/attempts?webhook_id=${webhookId}`));
		return rows.filter((row) => row.status === "delivered").length >= events && rows;
	});
}
