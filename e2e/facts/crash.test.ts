/**
 * All nine facts, reported to a service that is killed at random and restarted: on one machine with SQLite, and on two
 * nodes with PostgreSQL. FACTS_SEED repeats a run.
 */
import { randomBytes } from "node:crypto";
import { EVENT_TYPES } from "@posthorn/protocol";
import { patience, Signal } from "@posthorn/testkit";
import { PostgresServer } from "@posthorn/testkit/postgres";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { seeded } from "../random.ts";
import { Shop } from "../shop.ts";
import { checkBaskets, checkFacts, type LoggedEvent } from "./check.ts";
import { FactClient } from "./client.ts";
import { Journeys } from "./journeys.ts";
import { FactNodes } from "./nodes.ts";

const LIVES = 5;
/** How long a node lives under load before it is killed, milliseconds. */
const LIFE_MS = [50, 800] as const;
/** Concurrent customers, … */
const CUSTOMERS = 4;
/** … and the minimum number of orders; more follow until every kind of fact has occurred. */
const ORDERS = 60;
const IDLE_MS = 3_000;
const TYPES = EVENT_TYPES.map(({ type }) => type);

let server: PostgresServer;
beforeAll(async () => {
	server = await PostgresServer.start();
});
afterAll(() => server.stop());

describe.concurrent(`facts reported through ${LIVES} times kill -9`, { timeout: 600_000 }, () => {
	test("SQLite: each creates its events once", () => play({}, 1));

	test("PostgreSQL, two nodes: each creates its events once", async () => {
		const database = await server.createDatabase();
		await play({ POSTHORN_DATABASE_URL: database, POSTHORN_SEAL_KEY: randomBytes(32).toString("base64") }, 2);
		await server.dropDatabase(database);
	});
});

async function play(settings: Record<string, string>, count: number): Promise<void> {
	const seed = Number(process.env.FACTS_SEED ?? Date.now() % 1_000_000);
	console.log(`FACTS_SEED=${seed}`);
	const random = seeded(seed);
	await using shop = await Shop.open({
		POSTHORN_BASKET_IDLE: String(IDLE_MS / 1_000),
		POSTHORN_RETRY_DELAYS: "0.2,0.2,0.2,0.2,0.2,0.2,0.2",
		...settings,
	});
	await using nodes = await FactNodes.of(shop, count);

	/** The events' ids in order of first arrival. */
	const arrived = new Set<string>();
	/** By basket, when it was last abandoned, epoch milliseconds. */
	const abandoned = new Map<string, number>();
	const signal = new Signal();
	const receiver = await shop.receiver({
		keep: 1,
		respond: (request) => {
			const { id, type, data, created_at } = request.body as LoggedEvent;
			expect(request.verified).toBe(true);
			arrived.add(id);
			if (type === "basket.abandoned") abandoned.set(data.basket_id, Date.parse(created_at));
			signal.look();
			return { status: 200 };
		},
	});
	await shop.webhook(receiver.url("/facts"), { events: TYPES });

	const client = new FactClient(shop, nodes.urls, random);
	const journeys = new Journeys(client, random);
	let isOpen = true;
	const isEnough = () => journeys.orders.size >= ORDERS && journeys.types.size === TYPES.length;
	const customer = async (): Promise<void> => {
		while (isOpen) await journeys.one();
		const stillInTime = patience("facts of every kind to be recorded");
		while (!isEnough()) {
			stillInTime();
			await journeys.one();
		}
	};
	const customers = Promise.all(Array.from({ length: CUSTOMERS }, customer));
	for (let life = 0; life < LIVES; life++) {
		await new Promise((resolve) => setTimeout(resolve, LIFE_MS[0] + random() * (LIFE_MS[1] - LIFE_MS[0])));
		const killed = random() < 0.3 ? nodes.urls.map((_, i) => i) : [Math.floor(random() * count)];
		await Promise.all(killed.map((index) => nodes.kill(index)));
		await Promise.all(killed.map((index) => nodes.start(index)));
	}
	isOpen = false;
	await customers;

	// No node is running when the last baskets become due.
	await nodes.each((index) => nodes.kill(index));
	const allDue = Math.max(...journeys.baskets.map(({ lastTouched }) => lastTouched)) + IDLE_MS;
	await new Promise((resolve) => setTimeout(resolve, allDue - Date.now() + 1));
	await nodes.each((index) => nodes.start(index));
	const baskets = [...journeys.baskets];
	const left = baskets.filter(({ end }) => end === "left");
	await signal.until("every basket left to be abandoned", () =>
		left.every(({ id, lastSent }) => (abandoned.get(id) ?? 0) >= lastSent + IDLE_MS),
	);

	const log: LoggedEvent[] = await shop.all(shop.path("/events"));
	await signal.until("every event to arrive", () => arrived.size >= log.length);
	expect([...arrived].slice(0, log.length)).toEqual(log.map(({ id }) => id));
	checkFacts(log, journeys);
	const exact = checkBaskets(log, baskets, IDLE_MS);
	console.log(
		`${log.length} events of ${journeys.orders.size} orders; ${client.repeats} reports repeated; ` +
			`${baskets.length} baskets (${exact} exactly timed), ${left.length} of them left`,
	);
	expect(client.repeats).toBeGreaterThan(0);
	expect(exact).toBeGreaterThan(0);
	expect(new Set(log.map(({ type }) => type))).toEqual(new Set(TYPES));

	// The reports create no further events, even after a restart.
	await nodes.each((index) => nodes.stop(index));
	await shop.start();
	await journeys.one();
	const after: LoggedEvent[] = await shop.all(shop.path("/events"));
	expect(after.slice(0, log.length)).toEqual(log);
	checkFacts(after, journeys);
	const more = new Set(journeys.baskets.slice(baskets.length).map(({ id }) => id));
	checkBaskets(
		after.filter(({ data }) => !more.has(data.basket_id)),
		baskets,
		IDLE_MS,
	);
}
