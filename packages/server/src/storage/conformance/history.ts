import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AttemptFilter, NewAttempt } from "../port.ts";
import type { StorageHarness } from "./harness.ts";
import { ALL, START, World } from "./world.ts";

const TYPES = ["a", "b", "c"];
const STATUSES = ["delivered", "retrying", "failed"] as const;
const MINUTE = 60_000;

export function describeHistory(harness: StorageHarness): void {
	describe("delivery log", () => {
		let world: World;
		beforeAll(async () => {
			world = await World.open(harness);
		});
		afterAll(() => world.dispose());

		test("every filter, read by pages of any size, shows what a plain filter of all rows shows, newest first", async () => {
			const shop = await stock(world);
			const maybe = <T>(values: readonly T[]) => fc.option(fc.constantFrom(...values), { nil: undefined });
			const time = fc.option(fc.integer({ min: 0, max: 30 }), { nil: undefined });
			const filters = fc.record({
				webhookId: maybe([...shop.webhooks, world.id("webhook"), shop.foreign]),
				type: maybe([...TYPES, "never.seen"]),
				status: maybe(STATUSES),
				eventId: maybe([...shop.eventIds.values(), world.id("event")]),
				since: time,
				until: time,
			});
			await fc.assert(
				fc.asyncProperty(filters, fc.integer({ min: 1, max: 40 }), async (drawn, limit) => {
					const filter = Object.fromEntries(
						Object.entries(drawn)
							.filter(([, value]) => value !== undefined)
							.map(([key, value]) => [key, typeof value === "number" ? START + value * MINUTE : value]),
					) as AttemptFilter;
					const wanted = shop.attempts
						.filter((attempt) => fits(attempt, shop.eventIds.get(attempt.seq)!, filter))
						.map(({ id }) => id)
						.sort()
						.reverse();
					expect(await readByPages(world, shop.project, filter, limit)).toEqual(wanted);
					const count = await world.storage.countAttempts(shop.project, filter, limit);
					expect(count).toBe(Math.min(limit, wanted.length));
				}),
				{ numRuns: 150 },
			);
		});

		test("a page ends early rather than hold more bytes of bodies than allowed, but never without a row", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const events = [10, 20, 30].map((length) => world.event(project, "a", { body: Buffer.alloc(length, "x") }));
			await world.storage.appendEvents([{ projectId: project, publishedAt: START, events }]);
			const attempts = [1, 2, 3].map((seq) =>
				world.attempt(webhook, { seq, type: "a" }, { startedAt: START + seq, responseBody: Buffer.alloc(5) }),
			);
			await world.settle(await world.lease(project), { attempts });
			const page = async (maxBytes: number, limit = 10) => {
				const { rows, more } = await world.storage.listAttempts(project, {}, { limit, maxBytes });
				return [rows.map(({ seq }) => seq), more];
			};
			expect(await page(75)).toEqual([[3, 2, 1], false]);
			expect(await page(74)).toEqual([[3, 2], true]);
			expect(await page(0)).toEqual([[3], true]);
			expect(await page(1e6, 2)).toEqual([[3, 2], true]);
			expect(await page(1e6, 3)).toEqual([[3, 2, 1], false]);
		});

		test("a page that follows an attempt beyond the times asked for begins within them", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const events = await world.publish(project, "a", "a", "a", "a");
			const lease = await world.lease(project);
			for (const [i, event] of events.entries())
				await world.finish(lease, webhook, event, "delivered", { startedAt: START + i * 1_000 });
			const all = (await world.storage.listAttempts(project, {}, ALL)).rows;
			const filter = { until: START + 2_000 };
			const page = { limit: 10, before: all[0]!.id };
			const rows = (await world.storage.listAttempts(project, filter, { ...page, maxBytes: 1e6 })).rows;
			expect(rows.map(({ seq }) => seq)).toEqual([2, 1]);
			const summaries = (await world.storage.listAttemptSummaries(project, filter, page)).rows;
			expect(summaries.map(({ seq }) => seq)).toEqual([2, 1]);
		});

		test("summaries are the same pages without what was sent and answered, and bodies do not shorten them", async () => {
			const shop = await stock(world);
			for (const filter of [{}, { webhookId: shop.webhooks[0]! }, { type: "a", status: "failed" as const }]) {
				const { rows } = await world.storage.listAttempts(shop.project, filter, ALL);
				const summaries = rows.map(
					({ requestBody: _q, responseBody: _b, responseTruncated: _t, sent: _s, ...row }) => row,
				);
				expect(summaries.length).toBeGreaterThan(7);
				const list = (limit: number, before?: string) =>
					world.storage.listAttemptSummaries(shop.project, filter, { limit, ...(before && { before }) });
				expect(await list(summaries.length)).toEqual({ rows: summaries, more: false });
				const first = await list(7);
				expect(first).toEqual({ rows: summaries.slice(0, 7), more: true });
				const next = await list(1, first.rows.at(-1)!.id);
				expect(next.rows).toEqual(summaries.slice(7, 8));
			}
			expect(await world.storage.countAttempts(world.id("project"), {}, 10)).toBe(0);
		});

		test("an entry is found by its id in its project alone", async () => {
			const shop = await stock(world);
			const entry = shop.attempts[3]!;
			expect((await world.storage.getAttempt(shop.project, entry.id))?.seq).toBe(entry.seq);
			expect(await world.storage.getAttempt(shop.other, entry.id)).toBeNull();
			expect(await world.storage.getAttempt(shop.project, world.id("attempt"))).toBeNull();
		});

		test("a delivery shows the newest 200 of its attempts in the order in which they were made", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const [event] = await world.publish(project, "a");
			const lease = await world.lease(project);
			const series = Array.from({ length: 26 }, (_, replay) =>
				Array.from({ length: 8 }, (_, i) =>
					world.attempt(webhook, event!, {
						replay,
						attempt: i + 1,
						status: i === 7 ? "failed" : "retrying",
						startedAt: START + (replay * 8 + i) * MINUTE,
					}),
				),
			).flat();
			await world.settle(lease, { attempts: series, lanes: [{ webhookId: webhook, position: 1, open: [] }] });
			const delivery = await world.storage.getDelivery(project, webhook, event!.id);
			expect(delivery).toMatchObject({ state: "dead_lettered", attempt: 8, replay: 25 });
			expect(delivery!.attempts.map(({ id }) => id)).toEqual(series.slice(-200).map(({ id }) => id));
		});
	});
}

/** A project with some three hundred entries of all kinds, and another with a few. */
async function stock(world: World) {
	const [project, other] = [await world.project(), await world.project()];
	const webhooks = [await world.webhook(project, TYPES), await world.webhook(project, TYPES)];
	const foreign = await world.webhook(other, TYPES);
	const events = await world.publish(project, ...Array.from({ length: 24 }, (_, i) => TYPES[i % 3]!));
	const attempts: NewAttempt[] = [];
	for (const [i, event] of events.entries())
		for (const [w, webhookId] of webhooks.entries())
			for (let n = 0; n < 6; n++)
				attempts.push(
					world.attempt(webhookId, event, {
						attempt: n + 1,
						status: STATUSES[(i + w + n) % 3]!,
						startedAt: START + ((i * 7 + n * 5 + w) % 30) * MINUTE,
					}),
				);
	const settled = await world.settle(await world.lease(project), { attempts });
	const strays = (await world.publish(other, "a", "b")).map((event) => world.attempt(foreign, event));
	const strayed = await world.settle(await world.lease(other), { attempts: strays });
	expect([settled, strayed]).toEqual(["settled", "settled"]);
	return { project, other, webhooks, foreign, attempts, eventIds: new Map(events.map(({ seq, id }) => [seq, id])) };
}

function fits(attempt: NewAttempt, eventId: string, filter: AttemptFilter): boolean {
	return (
		(filter.webhookId === undefined || attempt.webhookId === filter.webhookId) &&
		(filter.type === undefined || attempt.eventType === filter.type) &&
		(filter.status === undefined || attempt.status === filter.status) &&
		(filter.eventId === undefined || eventId === filter.eventId) &&
		(filter.since === undefined || attempt.startedAt >= filter.since) &&
		(filter.until === undefined || attempt.startedAt < filter.until)
	);
}

async function readByPages(world: World, project: string, filter: AttemptFilter, limit: number): Promise<string[]> {
	const ids: string[] = [];
	for (;;) {
		const before = ids.at(-1);
		const page = { ...ALL, limit, ...(before === undefined ? {} : { before }) };
		const { rows, more } = await world.storage.listAttempts(project, filter, page);
		expect(rows.length).toBeLessThanOrEqual(limit);
		ids.push(...rows.map(({ id }) => id));
		if (!more) return ids;
		expect(rows.length).toBeGreaterThan(0);
	}
}
