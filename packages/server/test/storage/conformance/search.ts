import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { EventReference, ReadLimit, ResponseStep } from "../../../src/storage/port.ts";
import { BUCKET } from "../../../src/storage/shared/bodies.ts";
import type { StorageHarness } from "./harness.ts";
import { START, World } from "./world.ts";

const DAY = 86_400_000;
const ANY = { maxEvents: 1_000, maxBytes: 1e9 };
const order = (value: string): EventReference => ({ kind: "order", value });
const customer = (value: string): EventReference => ({ kind: "customer", value });

export function describeSearch(harness: StorageHarness): void {
	describe("search", () => {
		let world: World;
		beforeAll(async () => {
			world = await World.open(harness);
		});
		afterAll(() => world.dispose());

		/** Publishes an event for each of these, with their seqs from the end of the log. */
		async function publish(projectId: string, ...data: readonly object[]): Promise<void> {
			const events = data.map((one) => world.event(projectId, "a", { data: JSON.stringify(one) }));
			const result = await world.append({ projectId, publishedAt: world.clock.now(), events });
			expect(result.kind).toBe("appended");
		}

		/** Takes this many steps, or all that are left. Returns how many there were. */
		async function index(projectId: string, limit: ReadLimit = ANY, most = Number.POSITIVE_INFINITY): Promise<number> {
			let isLast = false;
			for (let steps = 0; ; steps++) {
				const part = steps < most ? await world.storage.readUnindexed({ projectId, limit }) : null;
				if (part === null) {
					if (steps > 0 && steps < most && limit === ANY) expect(isLast).toBe(true);
					return steps;
				}
				// Nothing follows the last part.
				expect(isLast).toBe(false);
				isLast = part.isLast;
				expect(await world.storage.indexReferences({ projectId, part })).toBe(true);
				// Another node that read the same part comes too late.
				expect(await world.storage.indexReferences({ projectId, part })).toBe(false);
			}
		}

		async function find(projectId: string, reference: EventReference, limit = 10) {
			const { seqs, ...rest } = await world.storage.findReferences({ projectId, reference, limit });
			return [seqs, rest] as const;
		}
		const WHOLE = { capped: false, complete: true, since: null };

		test("finds events by order id and by e-mail address, in any case, in their project only", async () => {
			const [project, other] = [await world.project(), await world.project()];
			await publish(
				project,
				{ order_id: "ord_1", customer_email: "Ada@Example.com" },
				{ order_id: "ord_2", customer_email: "ada@example.com " },
				{ order_id: "ORD_1" },
				{ order_id: 7, customer_email: 7 },
				{ order_id: "", customer_email: null, items: [{ order_id: "ord_1" }] },
				{ note: "ord_1" },
			);
			await publish(other, { order_id: "ord_1" });
			expect(await find(project, order("ord_1"))).toEqual([[], { ...WHOLE, complete: false }]);
			await index(project);
			expect(await find(project, order("ord_1"))).toEqual([[1], WHOLE]);
			expect(await find(project, order("7"))).toEqual([[4], WHOLE]);
			expect(await find(project, customer(" ADA@example.com"))).toEqual([[2, 1], WHOLE]);
			expect(await find(project, customer("ord_1"))).toEqual([[], WHOLE]);
			expect(await world.storage.describeEvents({ projectId: project, seqs: [9, 2] })).toEqual([
				{ seq: 2, id: expect.stringMatching(/^evt_/), type: "a", createdAt: START },
			]);
			expect(await find(await world.project(), order("ord_1"))).toEqual([[], WHOLE]);
			expect(await find(world.id("project"), order("ord_1"))).toEqual([[], WHOLE]);
		});

		test("order ids are read from events that aren't too large", async () => {
			const project = await world.project();
			await publish(
				project,
				{ order_id: "ord_1" },
				{ order_id: 7 },
				{ note: "ord_3", items: [{ order_id: "ord_3" }] },
				{ order_id: "ord_4", note: "x".repeat(1_000) },
				{ order_id: "" },
			);
			const read = async (seqs: readonly number[], maxBytes: number) =>
				(await world.storage.readOrderIds({ projectId: project, seqs, maxBytes })).sort((a, b) => a.seq - b.seq);
			const all = [1, 2, 3, 4, 5, 6, -1];
			expect(await read(all, 1_000)).toEqual([
				{ seq: 1, orderId: "ord_1" },
				{ seq: 2, orderId: "7" },
			]);
			expect(await read(all, 10_000)).toContainEqual({ seq: 4, orderId: "ord_4" });
			expect(await read([], 1_000)).toEqual([]);
			const elsewhere = { seqs: [1], maxBytes: 1_000 };
			expect(await world.storage.readOrderIds({ projectId: await world.project(), ...elsewhere })).toEqual([]);
			expect(await world.storage.readOrderIds({ projectId: world.id("project"), ...elsewhere })).toEqual([]);
		});

		test("lists of followed attempts show order ids of events that aren't too large, if asked", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			await publish(
				project,
				{ order_id: "ord_1" },
				{ order_id: 7 },
				{ note: "ord_3" },
				{ order_id: "ord_4", note: "x".repeat(1_000) },
			);
			const events = await world.storage.readEvents({ projectId: project, seqs: [1, 2, 3, 4] });
			const attempts = events.map((event, i) =>
				world.attempt(webhook, event, i === 1 ? { status: "retrying", statusCode: 500 } : {}),
			);
			const lease = await world.lease(project);
			await world.settle(lease, {
				attempts,
				schedule: [{ webhookId: webhook, seq: 2, queue: "retry", dueAt: START, replay: 0, attempt: 2 }],
				lanes: [{ webhookId: webhook, position: 4, open: [] }],
			});
			const orders = (rows: readonly { readonly seq: number; readonly orderId?: string | null }[]) =>
				rows.map(({ seq, orderId }) => [seq, orderId] as const).sort(([a], [b]) => a - b);
			const response = { codes: [{ from: 0, to: 999 }], maxScanned: 10 };
			for (const filter of [{}, { response }, { webhookIds: [webhook] }, { seqs: [1, 2, 3, 4] }]) {
				const read = async (orderIdBytes?: number) => {
					const page = { limit: 10, ...(orderIdBytes !== undefined && { orderIdBytes }) };
					return (await world.storage.listFollowedAttempts({ projectId: project, filter, page })).rows;
				};
				expect(orders(await read(1_000))).toEqual([
					[1, "ord_1"],
					[2, "7"],
					[3, null],
					[4, null],
				]);
				expect(orders(await read(10_000))).toContainEqual([4, "ord_4"]);
				for (const row of await read()) expect(row).not.toHaveProperty("orderId");
			}
		});

		test("says whether events have more than a number of attempts together", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const events = await world.publish(project, "a", "a", "a", "a");
			const lease = await world.lease(project);
			const counts = [3, 0, 2, 1];
			const attempts = events.flatMap((event, i) =>
				Array.from({ length: counts[i]! }, (_, n) =>
					world.attempt(webhook, event, { attempt: n + 1, status: "retrying", statusCode: 500 }),
				),
			);
			await world.settle(lease, { attempts });
			const hasMore = (maxAttempts: number, seqs = [4, 3, 2, 1], projectId = project) =>
				world.storage.hasMoreAttempts({ projectId, seqs, maxAttempts });
			expect(await hasMore(6)).toBe(false);
			expect(await hasMore(5)).toBe(true);
			expect(await hasMore(0)).toBe(true);
			expect(await hasMore(2, [3, 1])).toBe(true);
			expect(await hasMore(3, [1, 2])).toBe(false);
			expect(await hasMore(0, [2])).toBe(false);
			expect(await hasMore(0, [])).toBe(false);
			expect(await hasMore(0, [1], world.id("project"))).toBe(false);
		});

		test("test events aren't found", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const { createdAtGiven: _, ...event } = world.event(project, "a", { data: '{"order_id":"ord_1"}' });
			await world.storage.appendTestEvent({ projectId: project, webhookId: webhook, event });
			expect(await index(project)).toBe(0);
			expect(await find(project, order("ord_1"))).toEqual([[], WHOLE]);
			expect(
				await world.storage.searchBodies({ projectId: project, text: "ord_1", before: null, limit: ANY }),
			).toMatchObject({ found: [], next: null });
		});

		test("steps of any size find every event, newer ones first", async () => {
			await fc.assert(
				fc.asyncProperty(
					fc.array(fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 6 }), { minLength: 1, maxLength: 4 }),
					fc.integer({ min: 1, max: 4 }),
					fc.integer({ min: 1, max: 400 }),
					async (batches, maxEvents, maxBytes) => {
						const project = await world.project();
						const all: number[] = [];
						for (const batch of batches) {
							await publish(project, ...batch.map((n) => ({ order_id: `ord_${n}` })));
							all.push(...batch);
							// Only part of the older events has been indexed when more are published.
							await index(project, { maxEvents, maxBytes }, 2);
						}
						await index(project, { maxEvents, maxBytes });
						for (const n of [1, 2, 3]) {
							const seqs = all.flatMap((one, i) => (one === n ? [i + 1] : [])).reverse();
							expect(await find(project, order(`ord_${n}`), 100)).toEqual([seqs, WHOLE]);
							expect(await find(project, order(`ord_${n}`), 1)).toEqual([
								seqs.slice(0, 1),
								{ ...WHOLE, capped: seqs.length > 1 },
							]);
						}
					},
				),
				{ numRuns: 30 },
			);
		});

		test("the newest events come first, and it says from when on events were searched", async () => {
			const project = await world.project();
			for (let n = 0; n < 4; n++) {
				world.clock.time += 1_000;
				await publish(project, { order_id: "ord_1" });
			}
			const step = { maxEvents: 1, maxBytes: 1 };
			await index(project, step, 2);
			expect(await find(project, order("ord_1"))).toEqual([
				[4, 3],
				{ capped: false, complete: false, since: world.clock.time - 1_000 },
			]);
			// Events published since come next.
			await publish(project, { order_id: "ord_1" });
			expect((await find(project, order("ord_1")))[1].complete).toBe(false);
			await index(project, step, 1);
			expect((await find(project, order("ord_1")))[0]).toEqual([5, 4, 3]);
			await index(project);
			expect(await find(project, order("ord_1"))).toEqual([[5, 4, 3, 2, 1], WHOLE]);
		});

		test("finds the newest of very many events, across buckets", async () => {
			const project = await world.project();
			const many = 2 * BUCKET + 100;
			const orderOf = (i: number): string => (i % 1_000 === 0 ? "rare" : i < 8 ? "old" : "usual");
			const data = Array.from({ length: many }, (_, i) => ({ order_id: orderOf(i) }));
			for (let from = 0; from < many; from += 1_000) await publish(project, ...data.slice(from, from + 1_000));
			await index(project);
			const newest = (count: number) =>
				Array.from({ length: count }, (_, i) => many - i).filter((n) => n % 1_000 !== 1);
			expect(await find(project, order("usual"), 200)).toEqual([newest(201).slice(0, 200), { ...WHOLE, capped: true }]);
			expect(await find(project, order("rare"), 200)).toEqual([
				[8001, 7001, 6001, 5001, 4001, 3001, 2001, 1001, 1],
				WHOLE,
			]);
			expect(await find(project, order("old"), 2)).toEqual([[8, 7], { ...WHOLE, capped: true }]);
		});

		test("deleted events are no longer found, and their references are deleted in steps", async () => {
			const project = await world.project();
			await publish(project, { order_id: "ord_1" }, { order_id: "ord_1" });
			await index(project);
			world.clock.time += DAY;
			await publish(project, { order_id: "ord_1" });
			await index(project);
			expect((await find(project, order("ord_1")))[0]).toEqual([3, 2, 1]);
			await sweep(world.clock.time);
			// Until their references are deleted, they lead to nothing.
			expect(await world.storage.describeEvents({ projectId: project, seqs: [3, 2, 1] })).toHaveLength(1);
			while (await world.storage.sweepReferences({ projectId: project }));
			expect(await find(project, order("ord_1"))).toEqual([[3], WHOLE]);
			await sweep(world.clock.time + DAY);
			while (await world.storage.sweepReferences({ projectId: project }));
			expect(await find(project, order("ord_1"))).toEqual([[], WHOLE]);
			await publish(project, { order_id: "ord_1" });
			await index(project);
			expect(await find(project, order("ord_1"))).toEqual([[4], WHOLE]);
		});

		async function sweep(cutoff: number): Promise<void> {
			for (let from: number | null = 0; from !== null; )
				from = (await world.storage.sweepEvents({ cutoff, limit: 1_000, from })).next;
		}

		test("finds a text in bodies, newest first, in any case and as JSON writes it", async () => {
			const project = await world.project();
			await publish(project, { name: "Zoë" }, { name: 'say "hi"' }, { note: "x".repeat(300) }, { name: "ZOË again" });
			const raw = world.event(project, "a", { createdAt: 1, data: '{"name":"Zo\\u00eb","path":"a\\/b"}' });
			await world.append({ projectId: project, publishedAt: START, events: [raw] });
			const search = async (text: string, limit = ANY) => {
				const seqs: number[] = [];
				for (let before: number | null = null; ; ) {
					const step = await world.storage.searchBodies({ projectId: project, text, before, limit });
					seqs.push(...step.found.map(({ seq }) => seq));
					for (const { excerpt, matchStart, matchLength } of step.found)
						expect(excerpt.slice(matchStart, matchStart + matchLength)).not.toBe("");
					if (step.next === null) return seqs;
					before = step.next;
				}
			};
			expect(await search("zoë")).toEqual([5, 4, 1]);
			expect(await search('say "hi"')).toEqual([2]);
			expect(await search('"name":"zoë"')).toEqual([1]);
			expect(await search("a/b")).toEqual([5]);
			expect(await search("nothing")).toEqual([]);
			for (const maxEvents of [1, 2]) expect(await search("zoë", { maxEvents, maxBytes: 1 })).toEqual([5, 4, 1]);
			const first = await world.storage.searchBodies({
				...{ projectId: project, text: "again", before: null },
				limit: { maxEvents: 2, maxBytes: 1e6 },
			});
			expect(first).toMatchObject({ events: 2, reached: world.clock.now(), next: 4 });
			expect(first.found[0]).toMatchObject({ seq: 4, type: "a", excerpt: expect.stringContaining('"ZOË again"') });
			const imported = await world.storage.searchBodies({
				...{ projectId: project, text: "a/b", before: null },
				limit: { maxEvents: 1, maxBytes: 1e6 },
			});
			expect(imported.found).toMatchObject([{ seq: 5, createdAt: 1, publishedAt: START }]);
			expect(imported.reached).toBe(START);
		});

		test("finds a text in recorded responses, newest first, without those of tests", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a", "b"]);
			const events = await world.publish(project, "a", "b", "a");
			const lease = await world.lease(project);
			const at = world.clock.now();
			const bodies = ["No such plan", "ok", '{"error":"no such PLAN"}'];
			const attempts = events.map((event, i) =>
				world.attempt(webhook, event, {
					...{ startedAt: at + i, status: i === 1 ? "delivered" : "retrying", responseBody: Buffer.from(bodies[i]!) },
				}),
			);
			await world.settle(lease, { attempts });
			const { createdAtGiven: _, ...test } = world.event(project, "a");
			await world.storage.appendTestEvent({ projectId: project, webhookId: webhook, event: test });
			const queued = (await world.queues(project, webhook)).find(({ seq }) => seq < 0)!;
			const about = { startedAt: at + 3, responseBody: Buffer.from("No such plan") };
			await world.finish(lease, webhook, { seq: queued.seq, type: "a" }, "failed", about);
			const search = async (limit: ReadLimit) => {
				const found: unknown[] = [];
				let read = 0;
				for (let before: string | null = null; ; ) {
					const step: ResponseStep = await world.storage.searchResponses({
						...{ projectId: project, text: "no such plan", before, limit },
					});
					found.push(...step.found.map(({ attempt, createdAt }) => [attempt.id, attempt.eventId, createdAt]));
					for (const { excerpt, matchStart, matchLength } of step.found)
						expect(excerpt.slice(matchStart, matchStart + matchLength)).toMatch(/^no such plan$/i);
					read += step.attempts;
					if (step.next === null) return [found, read];
					before = step.next;
				}
			};
			const matching = [2, 0].map((i) => [attempts[i]!.id, events[i]!.id, events[i]!.createdAt]);
			expect(await search(ANY)).toEqual([matching, 4]);
			for (const maxEvents of [1, 2, 4]) expect(await search({ maxEvents, maxBytes: 1e6 })).toEqual([matching, 4]);
			expect(await search({ maxEvents: 10, maxBytes: 1 })).toEqual([matching, 4]);
			const first = await world.storage.searchResponses({
				...{ projectId: project, text: "plan", before: null, limit: { maxEvents: 2, maxBytes: 1e6 } },
			});
			expect(first).toMatchObject({ attempts: 2, reached: at + 2, next: attempts[2]!.id });
			expect(first.found[0]!.attempt).toMatchObject({ webhookId: webhook, status: "retrying", attempt: 1 });
			const nothing = { found: [], attempts: 0, reached: null, next: null };
			for (const other of [await world.project(), world.id("project")])
				expect(
					await world.storage.searchResponses({ projectId: other, text: "plan", before: null, limit: ANY }),
				).toEqual(nothing);
		});
	});
}
