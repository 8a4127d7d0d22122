import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AttemptCounts, NewAttempt, StatsQuery } from "../../../src/storage/port.ts";
import type { StorageHarness } from "./harness.ts";
import { ALL, START, World } from "./world.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export function describeStats(harness: StorageHarness): void {
	describe("statistics", () => {
		let world: World;
		beforeEach(async () => {
			world = await World.open(harness);
		});
		afterEach(() => world.dispose());

		test("every bucket equals a count of all attempts as of the last commit", async () => {
			const project = await world.project();
			const webhooks = [await world.webhook(project, ["a"]), await world.webhook(project, ["a"])];
			const [event] = await world.publish(project, "a");
			const foreign = await world.project();
			const elsewhere = await world.webhook(foreign, ["a"]);
			const [lease, foreignLease] = [await world.lease(project), await world.lease(foreign)];
			await world.publish(foreign, "a");
			const made: NewAttempt[] = [];
			const random = new Random(7);
			for (const size of [1, 30, 950, 40, 1_300, 250, 2_300, 9]) {
				const batch = Array.from({ length: size }, (_, i) => {
					const status = random.of(["delivered", "retrying", "failed"] as const);
					return world.attempt(webhooks[random.below(2)]!, event!, {
						attempt: made.length + i + 1,
						status,
						startedAt: START + random.below(3 * HOUR),
						responseMs: random.below(2) === 0 ? random.below(40) : random.below(15_000),
						...(random.below(20) === 0 && { sent: null, responseMs: 0 }),
						...(status === "failed" && random.below(10) === 0 && { sent: null, responseMs: 0, errorCode: "skipped" }),
					});
				});
				made.push(...batch);
				expect(await world.settle(lease, { attempts: batch })).toBe("settled");
				const stray = world.attempt(elsewhere, event!, { attempt: made.length, startedAt: START });
				expect(await world.settle(foreignLease, { attempts: [stray] })).toBe("settled");
				await expectCounted(world, project, made, { since: START, until: START + 3 * HOUR, stepMs: HOUR });
			}
			const queries = fc.record({
				webhookId: fc.constantFrom(undefined, ...webhooks),
				stepMs: fc.constantFrom(MINUTE, 2 * MINUTE, 30 * MINUTE, HOUR, DAY),
				from: fc.integer({ min: -1, max: 400 }),
				count: fc.integer({ min: 0, max: 200 }),
			});
			await fc.assert(
				fc.asyncProperty(queries, async ({ webhookId, stepMs, from, count }) => {
					const since = (Math.floor(START / stepMs) + from) * stepMs;
					const of = webhookId === undefined ? {} : { webhookId };
					await expectCounted(world, project, made, { ...of, since, until: since + count * stepMs, stepMs });
				}),
				{ numRuns: 60 },
			);
			await world.reopen();
			await expectCounted(world, project, made, { since: START, until: START + 3 * HOUR, stepMs: MINUTE });
		});

		test("events count when they were appended; test events don't count", async () => {
			const [project, other] = [await world.project(), await world.project()];
			const webhook = await world.webhook(project, ["a"]);
			const appended = new Map<number, number>();
			for (const [minute, count] of [[0, 3] as const, [1, 1] as const, [7, 40] as const, [59, 2] as const]) {
				for (const at of [minute * MINUTE, minute * MINUTE + MINUTE - 1]) {
					world.clock.time = START + at;
					await world.publish(project, ...Array.from({ length: count }, () => "a"));
					const { createdAtGiven: _, ...sample } = world.event(project, "a");
					await world.storage.appendTestEvent({ projectId: project, webhookId: webhook, event: sample });
				}
				appended.set(minute, 2 * count);
			}
			await world.publish(other, "a");
			const query = { since: START, until: START + HOUR, stepMs: MINUTE };
			const { buckets, total } = await world.storage.readStats({ projectId: project, query });
			expect(buckets.map(({ at }) => at)).toEqual(Array.from({ length: 60 }, (_, i) => START + i * MINUTE));
			expect(buckets.map(({ events }) => events)).toEqual(Array.from({ length: 60 }, (_, i) => appended.get(i) ?? 0));
			expect(total.events).toBe(92);
			const late = { since: START + MINUTE, until: START + 8 * MINUTE, stepMs: MINUTE };
			expect((await world.storage.readStats({ projectId: project, query: late })).total.events).toBe(82);
			const ofOne = await world.storage.readStats({ projectId: project, query: { ...query, webhookId: webhook } });
			expect(ofOne.buckets.every(({ events }) => events === 0)).toBe(true);
			expect(ofOne.total.events).toBe(0);
			for (const unknown of [
				await world.storage.readStats({ projectId: world.id("project"), query }),
				await world.storage.readStats({ projectId: other, query: { ...query, webhookId: webhook } }),
			]) {
				expect(unknown.buckets).toHaveLength(60);
				expect(unknown.total).toEqual({
					...{ events: 0, delivered: 0, retrying: 0, failed: 0, closed: 0 },
					...{ p50Ms: null, p95Ms: null },
				});
			}
		});

		test("attempts of test events don't count, however many there are", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const [event] = await world.publish(project, "a");
			const { createdAtGiven: _, ...sample } = world.event(project, "a");
			await world.storage.appendTestEvent({ projectId: project, webhookId: webhook, event: sample });
			const lease = await world.lease(project);
			const query = { since: START, until: START + HOUR, stepMs: HOUR };
			let attempt = 0;
			for (const size of [2, 2_500]) {
				const attempts = Array.from({ length: size }, (_, i) =>
					world.attempt(
						webhook,
						{ seq: -1, type: "a" },
						{ attempt: ++attempt, status: i % 2 ? "failed" : "delivered" },
					),
				);
				attempts.push(world.attempt(webhook, event!, { attempt }));
				expect(await world.settle(lease, { attempts })).toBe("settled");
				for (const of of [{}, { webhookId: webhook }]) {
					const { total } = await world.storage.readStats({ projectId: project, query: { ...query, ...of } });
					expect(total).toMatchObject({ delivered: size === 2 ? 1 : 2, retrying: 0, failed: 0 });
				}
			}
		});

		test("attempts of deleted webhooks still count in their project", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const [event] = await world.publish(project, "a");
			await world.finish(await world.lease(project), webhook, event!, "failed");
			await world.storage.deleteWebhook({ projectId: project, webhookId: webhook });
			const query = { since: START, until: START + HOUR, stepMs: HOUR };
			expect((await world.storage.readStats({ projectId: project, query })).total).toMatchObject({
				failed: 1,
				delivered: 0,
			});
			expect(
				(await world.storage.readStats({ projectId: project, query: { ...query, webhookId: webhook } })).total.failed,
			).toBe(1);
		});

		// A clock that was briefly far ahead caused the last two days of statistics to be deleted.
		test("minutes are kept for two days of the trusted time", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const [event] = await world.publish(project, "a");
			await world.finish(await world.lease(project), webhook, event!, "delivered");
			const query = { since: START, until: START + HOUR, stepMs: MINUTE };
			const delivered = async () => (await world.storage.readStats({ projectId: project, query })).total.delivered;
			const sweep = async (now: number) => {
				for (let from: number | null = 0; from !== null; )
					from = (await world.storage.sweepAttempts({ cutoff: START - DAY, limit: 50, from, now })).next;
			};
			world.clock.time = START + 40 * DAY;
			// SQLite counts attempts before they are deleted, or once there are many.
			const many = Array.from({ length: 2_500 }, (_, i) => world.attempt(webhook, event!, { attempt: i + 2 }));
			expect(await world.settle(await world.lease(project), { attempts: many })).toBe("settled");
			await sweep(START + DAY);
			expect(await delivered()).toBe(1);
			await sweep(START + 3 * DAY);
			expect(await delivered()).toBe(0);
		});

		test("hours are kept for the log's retention and minutes for two days, even without log entries", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const [event] = await world.publish(project, "a");
			const lease = await world.lease(project);
			let attempt = 0;
			const log = async (count: number, startedAt: number) => {
				const attempts = Array.from({ length: count }, () =>
					world.attempt(webhook, event!, { attempt: ++attempt, startedAt }),
				);
				expect(await world.settle(lease, { attempts })).toBe("settled");
			};
			const sweep = async (cutoff: number) => {
				let from: number | null = 0;
				while (from !== null) from = (await world.storage.sweepAttempts({ cutoff, limit: 50, from })).next;
			};
			const hours = async (from: number, count: number) => {
				const query = { since: from, until: from + count * HOUR, stepMs: HOUR };
				return (await world.storage.readStats({ projectId: project, query })).total.delivered;
			};
			const minutes = async (from: number) => {
				const query = { since: from, until: from + HOUR, stepMs: MINUTE };
				return (await world.storage.readStats({ projectId: project, query })).total.delivered;
			};

			const entries = () => world.storage.countAttempts({ projectId: project, filter: {}, max: 1000 });
			await log(120, START);
			await log(60, START + DAY);
			world.clock.time = START + DAY + 3 * HOUR;
			// The entries are deleted before there are enough of them for an automatic roll-up.
			await sweep(START + DAY);
			expect(await entries()).toEqual({ count: 60, capped: false });
			expect(await hours(START + DAY, 1)).toBe(60);
			expect(await minutes(START)).toBe(120);
			await sweep(START + 2 * DAY);
			expect(await entries()).toEqual({ count: 0, capped: false });
			expect(await minutes(START + DAY)).toBe(60);
			// Attempts after an empty log count too, and once.
			await log(5, START + 2 * DAY);
			expect(await hours(START + 2 * DAY, 1)).toBe(5);
			await log(2_200, START + 2 * DAY);
			expect(await hours(START + 2 * DAY, 1)).toBe(2_205);
			expect(await minutes(START + 2 * DAY)).toBe(2_205);
			world.clock.time = START + 4 * DAY + 4 * HOUR;
			await sweep(START + 2 * DAY);
			expect(await minutes(START + 2 * DAY)).toBe(0);
			expect(await hours(START + 2 * DAY, 3)).toBe(2_205);
			expect((await world.storage.listAttempts({ projectId: project, filter: {}, page: ALL })).rows).toHaveLength(
				2_205,
			);
			// Counts are deleted at the latest with the pass after the entries.
			for (let passes = 0; passes < 2; passes++) await sweep(START + 3 * DAY);
			expect(await hours(START + 2 * DAY, 3)).toBe(0);
		});

		test("refused settlements don't count", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const [event] = await world.publish(project, "a");
			const lease = await world.lease(project);
			const batch = (from: number) =>
				Array.from({ length: 2_100 }, (_, i) => world.attempt(webhook, event!, { attempt: from + i }));
			expect(await world.settle(lease, { attempts: batch(1) })).toBe("settled");
			expect(await world.settle(lease, { attempts: [...batch(3_000), ...batch(1)] })).toBe("stale");
			const query = { since: START, until: START + HOUR, stepMs: HOUR };
			expect((await world.storage.readStats({ projectId: project, query })).total.delivered).toBe(2_100);
			expect(await world.settle(lease, { attempts: batch(6_000) })).toBe("settled");
			expect((await world.storage.readStats({ projectId: project, query })).total.delivered).toBe(4_200);
		});
	});
}

/** Compares with counting one by one. */
async function expectCounted(world: World, project: string, made: readonly NewAttempt[], query: StatsQuery) {
	const { buckets, total } = await world.storage.readStats({ projectId: project, query });
	const counted = made.filter(
		({ webhookId, startedAt }) =>
			(query.webhookId === undefined || webhookId === query.webhookId) &&
			startedAt >= query.since &&
			startedAt < query.until,
	);
	expect(buckets).toHaveLength((query.until - query.since) / query.stepMs);
	for (const [i, bucket] of buckets.entries()) {
		const at = query.since + i * query.stepMs;
		expect(bucket.at).toBe(at);
		const within = counted.filter(({ startedAt }) => startedAt >= at && startedAt < at + query.stepMs);
		expectCounts(bucket, within);
	}
	expectCounts(total, counted);
}

function expectCounts(counts: AttemptCounts, attempts: readonly NewAttempt[]): void {
	for (const status of ["delivered", "retrying", "failed"] as const)
		expect(counts[status]).toBe(attempts.filter((attempt) => attempt.status === status).length);
	expect(counts.closed).toBe(attempts.filter(({ errorCode }) => errorCode === "skipped").length);
	const times = attempts
		.filter(({ sent }) => sent !== null)
		.map(({ responseMs }) => responseMs)
		.sort((a, b) => a - b);
	for (const [given, share] of [[counts.p50Ms, 0.5] as const, [counts.p95Ms, 0.95] as const]) {
		const exact = times[Math.ceil(times.length * share) - 1];
		if (exact === undefined) expect(given).toBeNull();
		else expect(Math.abs(given! - exact)).toBeLessThanOrEqual(Math.max(1, exact / 10));
	}
}

/** Numbers that are the same in every run (a linear congruential generator). */
class Random {
	#state: number;

	constructor(seed: number) {
		this.#state = seed;
	}

	below(bound: number): number {
		this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
		return Math.floor((this.#state / 2 ** 32) * bound);
	}

	of<T>(values: readonly T[]): T {
		return values[this.below(values.length)]!;
	}
}
