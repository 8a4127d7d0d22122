import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AttemptFilter, CodeRange, NewAttempt } from "../../../src/storage/port.ts";
import type { StorageHarness } from "./harness.ts";
import { ALL, START, World } from "./world.ts";

const TYPES = ["a", "b", "c"];
const STATUSES = ["delivered", "retrying", "failed"] as const;
const MINUTE = 60_000;
/** Attempts are this far apart, so that they are of several days. */
const STEP = 7 * 60 * MINUTE;
/** What receivers respond to attempts of each status; null means no response. */
const RESPONSES = { delivered: [200, 204], retrying: [503, 404, null], failed: [503, 302, 500, null] } as const;
const CODES = [
	[0, 0],
	[200, 299],
	[204, 204],
	[300, 399],
	[404, 404],
	[500, 599],
	[503, 503],
	[299, 300],
] as const;

export function describeHistory(harness: StorageHarness): void {
	describe("delivery log", () => {
		let world: World;
		beforeAll(async () => {
			world = await World.open(harness);
		});
		afterAll(() => world.dispose());

		test("an attempt's details are returned with it, and not in summaries", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const events = await world.publish(project, "a", "a", "a", "a");
			const all = [
				{ headers: { location: "/login", server: "é\ufffd'\"\0" } },
				undefined,
				{ dns: "nxdomain" },
				{ certificate: { subject: "CN=a", issuer: "CN=b", names: ["a.example"], validFrom: 1, validTo: null } },
			];
			const attempts = all.map((details, i) =>
				world.attempt(webhook, events[i]!, { status: "failed", ...(details && { details }), startedAt: START + i }),
			);
			expect(await world.settle(await world.lease(project), { attempts })).toBe("settled");
			const filter = { webhookIds: [webhook] };
			const { rows } = await world.storage.listAttempts({ projectId: project, filter, page: ALL });
			expect(rows.map(({ details }) => details)).toEqual(all.toReversed());
			const [, second] = attempts;
			expect(await world.storage.getAttempt({ projectId: project, attemptId: second!.id })).not.toHaveProperty(
				"details",
			);
			const summaries = await world.storage.listAttemptSummaries({ projectId: project, filter, page: ALL });
			for (const row of summaries.rows) expect(row).not.toHaveProperty("details");
			const delivery = { projectId: project, webhookId: webhook, eventId: events[2]!.id };
			expect((await world.storage.getDelivery(delivery))!.attempts.at(-1)!.details).toEqual(all[2]);
		});

		test("every filter with any page size returns the same rows as a plain filter, newest first", async () => {
			const shop = await stock(world);
			const maybe = <T>(values: readonly T[]) => fc.option(fc.constantFrom(...values), { nil: undefined });
			const several = <T>(values: readonly T[]) =>
				fc.option(fc.uniqueArray(fc.constantFrom(...values), { maxLength: 3 }), { nil: undefined });
			const time = fc.option(fc.integer({ min: 0, max: 30 }), { nil: undefined });
			const filters = fc.record({
				webhookIds: several([...shop.webhooks, world.id("webhook"), shop.foreign]),
				types: several([...TYPES, "never.seen"]),
				statuses: several(STATUSES),
				eventId: maybe([...shop.eventIds.values(), world.id("event")]),
				seqs: several([...shop.eventIds.keys(), 1_000, -1]),
				since: time,
				until: time,
				response: fc.option(
					fc.record({
						codes: fc.uniqueArray(fc.constantFrom(...CODES), { maxLength: 3 }).map(toRanges),
						errors: fc.uniqueArray(fc.constantFrom("timeout", "connection_refused"), { maxLength: 2 }),
						withoutTests: fc.boolean(),
						maxScanned: fc.integer({ min: 1, max: 60 }),
					}),
					{ nil: undefined },
				),
			});
			await fc.assert(
				fc.asyncProperty(
					filters,
					fc.integer({ min: 1, max: 40 }),
					fc.boolean(),
					async (drawn, limit, isJustReached) => {
						const filter = Object.fromEntries(
							Object.entries(drawn)
								.filter(([, value]) => value !== undefined)
								.map(([key, value]) => [key, typeof value === "number" ? START + value * STEP : value]),
						) as AttemptFilter;
						const scanned = shop.attempts
							.filter((attempt) => fits(attempt, shop.eventIds.get(attempt.seq)!, filter))
							.sort((one, other) => (one.id < other.id ? 1 : -1));
						const wanted = (attempts: NewAttempt[]) => attempts.filter((attempt) => responds(attempt, filter));
						const pages = await readByPages(world, shop.project, filter, limit);
						expect(pages.flatMap(({ ids }) => ids)).toEqual(wanted(scanned).map(({ id }) => id));
						const maxScanned = filter.response?.maxScanned ?? Number.POSITIVE_INFINITY;
						let from = 0;
						for (const { ids, next } of pages) {
							const to = next === null ? scanned.length : scanned.findIndex(({ id }) => id === next) + 1;
							expect(to - from).toBeLessThanOrEqual(maxScanned);
							// A page is short only where it had to end.
							if (next !== null && ids.length < limit) expect(to - from).toBe(maxScanned);
							from = to;
						}
						const found = wanted(scanned.slice(0, maxScanned)).length;
						// A count that exactly reaches its maximum is exact.
						const max = isJustReached ? Math.max(1, found) : limit;
						const capped = found > max || scanned.length >= maxScanned;
						const count = await world.storage.countAttempts({ projectId: shop.project, filter, max });
						expect(count).toEqual({ count: Math.min(max, found), capped });
					},
				),
				{ numRuns: 300 },
			);
		});

		test("a filter may consider only as many attempts as the first of its events have", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const events = await world.publish(project, "a", "a", "a", "a");
			const counts = [3, 0, 2, 1];
			const attempts = events.flatMap((event, i) =>
				Array.from({ length: counts[i]! }, (_, n) =>
					// Those of the first event are the newest.
					world.attempt(webhook, event, { attempt: n + 1, status: "failed", startedAt: START - i * 10 + n }),
				),
			);
			await world.settle(await world.lease(project), { attempts });
			const ofSeqs = (...seqs: number[]) => attempts.filter(({ seq }) => seqs.includes(seq)).map(({ id }) => id);
			for (const [maxAttempts, considered] of [
				[3, ofSeqs(4, 3)],
				[1, ofSeqs(4)],
				[6, ofSeqs(4, 3, 1)],
			] as const) {
				const filter = { seqs: [4, 3, 2, 1], maxAttempts };
				for (const verb of ["listAttempts", "listAttemptSummaries", "listFollowedAttempts"] as const) {
					const { rows, next } = await world.storage[verb]({ projectId: project, filter, page: ALL });
					expect(rows.map(({ id }) => id)).toEqual(considered.toSorted().reverse());
					expect(next).toBe(null);
				}
				const count = await world.storage.countAttempts({ projectId: project, filter, max: 10 });
				expect(count).toEqual({ count: maxAttempts, capped: false });
				// Later pages may consider more.
				const pages = await readByPages(world, project, filter, 2);
				expect(pages.flatMap(({ ids }) => ids)).toEqual(expect.arrayContaining([...considered]));
			}
		});

		// On SQLite, it considered the oldest ones, so a delivery with very many attempts wasn't listed at all.
		test("a filter that considers only some attempts of a delivery considers the newest ones", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const [event, other] = await world.publish(project, "a", "a");
			const attempts = Array.from({ length: 5 }, (_, i) =>
				world.attempt(webhook, other!, {
					replay: i >> 1,
					attempt: 1 + (i & 1),
					status: "failed",
					startedAt: START + i,
				}),
			);
			const older = world.attempt(webhook, event!, { status: "failed", startedAt: START - 1 });
			await world.settle(await world.lease(project), { attempts: [older, ...attempts] });
			for (const webhookIds of [undefined, [webhook]]) {
				const filter = { seqs: [2, 1], maxAttempts: 2, ...(webhookIds && { webhookIds }) };
				const { rows } = await world.storage.listFollowedAttempts({ projectId: project, filter, page: ALL });
				expect(rows.map(({ id, isFollowed }) => [id, isFollowed])).toEqual([
					[attempts[4]!.id, false],
					[attempts[3]!.id, true],
				]);
			}
		});

		// On SQLite, only those of the filter's webhooks counted.
		test("attempts of other webhooks count towards those that a filter considers", async () => {
			const project = await world.project();
			const webhooks = [await world.webhook(project, ["a"]), await world.webhook(project, ["a"])];
			const [event] = await world.publish(project, "a");
			const attempts = webhooks.flatMap((webhook) =>
				[1, 2].map((attempt) =>
					world.attempt(webhook, event!, { attempt, status: "retrying", startedAt: START + attempt }),
				),
			);
			await world.settle(await world.lease(project), { attempts });
			const considered = async (maxAttempts: number, webhookIds: readonly string[]) => {
				const filter = { seqs: [1], maxAttempts, webhookIds };
				const { rows } = await world.storage.listAttempts({ projectId: project, filter, page: ALL });
				return rows.map(({ webhookId, attempt }) => [webhookId, attempt]);
			};
			const [first, second] = webhooks as [string, string];
			expect(await considered(3, webhooks)).toEqual(
				expect.arrayContaining([
					[first, 2],
					[second, 2],
					[second, 1],
				]),
			);
			expect(await considered(3, [first])).toEqual([[first, 2]]);
			expect(await considered(2, [first])).toEqual([]);
			expect(await considered(4, [first])).toHaveLength(2);
		});

		test("a page ends early to limit the bytes of its bodies, but has at least one row", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const events = [10, 20, 30].map((length) => world.event(project, "a", { body: Buffer.alloc(length, "x") }));
			await world.storage.appendEvents({ requests: [{ projectId: project, publishedAt: START, events }] });
			const attempts = [1, 2, 3].map((seq) =>
				world.attempt(webhook, { seq, type: "a" }, { startedAt: START + seq, responseBody: Buffer.alloc(5) }),
			);
			await world.settle(await world.lease(project), { attempts });
			const page = async (maxBytes: number, limit = 10) => {
				const { rows, next } = await world.storage.listAttempts({
					projectId: project,
					filter: {},
					page: { limit, maxBytes },
				});
				expect([null, rows.at(-1)?.id]).toContain(next);
				return [rows.map(({ seq }) => seq), next !== null];
			};
			expect(await page(75)).toEqual([[3, 2, 1], false]);
			expect(await page(74)).toEqual([[3, 2], true]);
			expect(await page(0)).toEqual([[3], true]);
			expect(await page(1e6, 2)).toEqual([[3, 2], true]);
			expect(await page(1e6, 3)).toEqual([[3, 2, 1], false]);
		});

		test("a page after an attempt outside the time range starts within the range", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const events = await world.publish(project, "a", "a", "a", "a");
			const lease = await world.lease(project);
			for (const [i, event] of events.entries())
				await world.finish(lease, webhook, event, "delivered", { startedAt: START + i * 1_000 });
			const all = (await world.storage.listAttempts({ projectId: project, filter: {}, page: ALL })).rows;
			const filter = { until: START + 2_000 };
			const page = { limit: 10, before: all[0]!.id };
			const rows = (await world.storage.listAttempts({ projectId: project, filter, page: { ...page, maxBytes: 1e6 } }))
				.rows;
			expect(rows.map(({ seq }) => seq)).toEqual([2, 1]);
			const summaries = (await world.storage.listAttemptSummaries({ projectId: project, filter, page })).rows;
			expect(summaries.map(({ seq }) => seq)).toEqual([2, 1]);
		});

		test("summaries are the same pages without requests and responses, and bodies don't shorten them", async () => {
			const shop = await stock(world);
			for (const filter of [{}, { webhookIds: shop.webhooks }, { types: ["a"], statuses: ["failed" as const] }]) {
				const { rows } = await world.storage.listAttempts({ projectId: shop.project, filter, page: ALL });
				const summaries = rows.map(
					({ requestBody: _q, responseBody: _b, responseTruncated: _t, sent: _s, ...row }) => row,
				);
				expect(summaries.length).toBeGreaterThan(7);
				const list = (limit: number, before?: string) =>
					world.storage.listAttemptSummaries({
						projectId: shop.project,
						filter,
						page: { limit, ...(before && { before }) },
					});
				expect(await list(summaries.length)).toEqual({ rows: summaries, next: null });
				const first = await list(7);
				expect(first).toEqual({ rows: summaries.slice(0, 7), next: summaries[6]!.id });
				const next = await list(1, first.rows.at(-1)!.id);
				expect(next.rows).toEqual(summaries.slice(7, 8));
			}
			const count = (projectId: string, max: number) => world.storage.countAttempts({ projectId, filter: {}, max });
			const all = shop.attempts.length;
			expect(await count(shop.project, all)).toEqual({ count: all, capped: false });
			expect(await count(shop.project, all - 1)).toEqual({ count: all - 1, capped: true });
			expect(await count(world.id("project"), 10)).toEqual({ count: 0, capped: false });
		});

		test("bodies also end a page filtered by status code early, without losing anything", async () => {
			const shop = await stock(world);
			const filter = { response: { codes: toRanges([[500, 599]]), maxScanned: 20 } };
			const whole = (await readByPages(world, shop.project, filter, 100)).flatMap(({ ids }) => ids);
			expect(whole.length).toBeGreaterThan(50);
			const pages = await readByPages(world, shop.project, filter, 100, 0);
			expect(pages.flatMap(({ ids }) => ids)).toEqual(whole);
			for (const { ids } of pages) expect(ids.length).toBeLessThanOrEqual(1);
		});

		test("an entry is found by id only in its project", async () => {
			const shop = await stock(world);
			const entry = shop.attempts[3]!;
			expect((await world.storage.getAttempt({ projectId: shop.project, attemptId: entry.id }))?.seq).toBe(entry.seq);
			expect(await world.storage.getAttempt({ projectId: shop.other, attemptId: entry.id })).toBeNull();
			expect(await world.storage.getAttempt({ projectId: shop.project, attemptId: world.id("attempt") })).toBeNull();
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
			const delivery = await world.storage.getDelivery({ projectId: project, webhookId: webhook, eventId: event!.id });
			expect(delivery).toMatchObject({ state: "dead_lettered", attempt: 8, replay: 25 });
			expect(delivery!.attempts.map(({ id }) => id)).toEqual(series.slice(-200).map(({ id }) => id));
		});
	});
}

/** One project with about three hundred entries of all kinds, and another with a few. */
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
						...ended(STATUSES[(i + w + n) % 3]!, i * 5 + n),
						startedAt: START + ((i * 7 + n * 5 + w) % 30) * STEP,
					}),
				);
	const settled = await world.settle(await world.lease(project), { attempts });
	const strays = (await world.publish(other, "a", "b")).map((event) => world.attempt(foreign, event));
	const strayed = await world.settle(await world.lease(other), { attempts: strays });
	expect([settled, strayed]).toEqual(["settled", "settled"]);
	world.clock.time = START + 30 * STEP;
	return { project, other, webhooks, foreign, attempts, eventIds: new Map(events.map(({ seq, id }) => [seq, id])) };
}

/** How an attempt ended, with one of the possible responses. */
function ended(status: (typeof STATUSES)[number], n: number): Pick<NewAttempt, "status" | "statusCode" | "errorCode"> {
	const codes = RESPONSES[status];
	const statusCode = codes[n % codes.length]!;
	return {
		status,
		statusCode,
		errorCode: statusCode === null ? (n % 2 === 0 ? "timeout" : "connection_refused") : null,
	};
}

const toRanges = (codes: readonly (readonly [from: number, to: number])[]): CodeRange[] =>
	codes.map(([from, to]) => ({ from, to }));

const includes = (codes: readonly CodeRange[], code: number): boolean =>
	codes.some(({ from, to }) => from <= code && code <= to);

/** Whether the filter must read an attempt: its status may have such a response, no matter which one it had. */
function fits(attempt: NewAttempt, eventId: string, filter: AttemptFilter): boolean {
	const codes = Array.from({ length: 600 }, (_, code) => code).filter((code) =>
		includes(filter.response?.codes ?? [{ from: 0, to: 599 }], code),
	);
	const is2xx = (code: number) => code >= 200 && code < 300;
	const hasErrors = (filter.response?.errors ?? []).length > 0;
	return (
		(codes.some((code) => is2xx(code) === (attempt.status === "delivered")) ||
			(hasErrors && attempt.status !== "delivered")) &&
		filter.webhookIds?.includes(attempt.webhookId) !== false &&
		filter.types?.includes(attempt.eventType) !== false &&
		filter.statuses?.includes(attempt.status) !== false &&
		(filter.eventId === undefined || eventId === filter.eventId) &&
		filter.seqs?.includes(attempt.seq) !== false &&
		(filter.since === undefined || attempt.startedAt >= filter.since) &&
		(filter.until === undefined || attempt.startedAt < filter.until)
	);
}

const responds = ({ seq, statusCode, errorCode }: NewAttempt, { response }: AttemptFilter): boolean =>
	response === undefined ||
	((!response.withoutTests || seq > 0) &&
		(includes(response.codes, statusCode ?? 0) ||
			(errorCode !== null && response.errors?.includes(errorCode) === true)));

async function readByPages(
	world: World,
	project: string,
	filter: AttemptFilter,
	limit: number,
	maxBytes = ALL.maxBytes,
): Promise<{ ids: string[]; next: string | null }[]> {
	const pages: { ids: string[]; next: string | null }[] = [];
	for (;;) {
		const before = pages.at(-1)?.next;
		const page = { limit, maxBytes, ...(typeof before === "string" ? { before } : {}) };
		const { rows, next } = await world.storage.listAttempts({ projectId: project, filter, page });
		expect(rows.length).toBeLessThanOrEqual(limit);
		pages.push({ ids: rows.map(({ id }) => id), next });
		if (next === null) return pages;
		if (filter.response === undefined) expect(rows.length).toBeGreaterThan(0);
		expect(pages.length).toBeLessThan(1_000);
	}
}
