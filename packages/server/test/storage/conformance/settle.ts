import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Retry } from "../../../src/storage/port.ts";
import { QUEUES } from "../../../src/storage/shared/deliveries.ts";
import type { StorageHarness } from "./harness.ts";
import { ALL, plain, START, World } from "./world.ts";

export function describeSettle(harness: StorageHarness): void {
	describe("settling", () => {
		let world: World;
		beforeAll(async () => {
			world = await World.open(harness);
		});
		afterAll(() => world.dispose());

		test("an attempt comes back as it was logged, with its event", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const events = await world.publish(project, "a", "a");
			const bytes = Uint8Array.from({ length: 1024 }, (_, i) => i % 256);
			const attempts = [
				world.attempt(webhook, events[0]!, {
					status: "retrying",
					statusCode: 503,
					responseBody: bytes,
					responseTruncated: true,
					nextRetryAt: START + 30_000,
					startedAt: START,
				}),
				world.attempt(webhook, events[1]!, {
					status: "failed",
					statusCode: null,
					errorCode: "expired",
					error: "Its retention ended before it was sent.",
					responseBody: new Uint8Array(0),
					sent: null,
					startedAt: START + 1,
				}),
			];
			expect(await world.settle(await world.lease(project), { attempts })).toBe("settled");
			const { rows } = await world.storage.listAttempts({ projectId: project, filter: {}, page: ALL });
			const wanted = attempts.map((attempt, i) => ({
				...attempt,
				eventId: events[i]!.id,
				requestBody: events[i]!.body,
			}));
			expect(plain(rows)).toEqual(plain(wanted.reverse()));
			for (const row of wanted)
				expect(plain(await world.storage.getAttempt({ projectId: project, attemptId: row.id }))).toEqual(plain(row));
		});

		test("a settlement with a lane beyond the end of the log is refused completely", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const [event] = await world.publish(project, "a");
			const lease = await world.lease(project);
			const beyond = { webhookId: webhook, position: event!.seq + 1, open: [] };
			const attempts = [world.attempt(webhook, event!)];
			expect(await world.settle(lease, { attempts, lanes: [beyond] })).toBe("stale");
			expect((await world.lane(project, webhook)).position).toBe(0);
			expect((await world.storage.listAttempts({ projectId: project, filter: {}, page: ALL })).rows).toEqual([]);
			expect(await world.settle(lease, { attempts, lanes: [{ ...beyond, position: event!.seq }] })).toBe("settled");
		});

		test("attempts logged together are read back unchanged, no matter what they have in common", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a", "b"]);
			const lease = await world.lease(project);
			const answered = { statusCode: 500, status: "retrying", nextRetryAt: START + 30_000, attempt: 2 } as const;
			// Two signatures, whose length differs from the others'.
			const sent = { brand: "Service", timestamp: 7, signature: "ab".repeat(32) };
			const both = { sent: { ...sent, standardSignature: Buffer.alloc(32, 0xfe).toString("base64") } };
			const failed = {
				...({
					status: "failed",
					statusCode: null,
					errorCode: "timeout",
					error: "No response.",
					sent: null,
				} as const),
				...{
					responseBody: new Uint8Array(0),
					responseTruncated: true,
					replay: 1,
					attempt: 3,
					url: "https://b.example/",
				},
			};
			// All of one kind, two kinds alternating, and one that differs at either end.
			for (const kinds of ["aaaa", "bbbb", "cccc", "abab", "baaa", "aaab", "cbbb", "abcc", "dddd", "dabd", "adad"]) {
				const events = await world.publish(
					project,
					...[...kinds].map((kind) => (kind === "a" || kind === "d" ? "a" : "b")),
				);
				const attempts = [...kinds].map((kind, i) =>
					world.attempt(webhook, events[i]!, {
						startedAt: START + events[i]!.seq,
						...{ a: {}, b: failed, c: answered, d: both }[kind],
					}),
				);
				expect(await world.settle(lease, { attempts })).toBe("settled");
				for (const [i, attempt] of attempts.entries()) {
					const wanted = { ...attempt, eventId: events[i]!.id, requestBody: events[i]!.body };
					expect(plain(await world.storage.getAttempt({ projectId: project, attemptId: attempt.id }))).toEqual(
						plain(wanted),
					);
				}
			}
		});

		test("each settlement of a call is accepted or refused separately, and a refused one has no effect", async () => {
			const [one, two] = [await world.project(), await world.project()];
			const webhooks = [await world.webhook(one, ["a"]), await world.webhook(two, ["a"])];
			const [event] = await world.publish(one, "a");
			await world.publish(two, "a");
			const leases = [await world.lease(one), await world.lease(two)];
			const settlement = (i: number, generation: number) => ({
				projectId: leases[i]!.projectId,
				generation,
				attempts: [world.attempt(webhooks[i]!, event!, { status: "retrying" as const })],
				schedule: [retry(webhooks[i]!, 1, START)],
				unschedule: [],
				lanes: [{ webhookId: webhooks[i]!, position: 1, open: [] }],
			});
			const verdicts = await world.storage.settle({
				settlements: [
					settlement(0, leases[0]!.generation + 1),
					settlement(1, leases[1]!.generation),
					{ ...settlement(1, leases[1]!.generation), projectId: world.id("project") },
				],
			});
			expect(verdicts).toEqual(["stale", "settled", "stale"]);
			expect((await world.storage.listAttempts({ projectId: one, filter: {}, page: ALL })).rows).toEqual([]);
			expect(await world.queues(one, webhooks[0]!)).toEqual([]);
			expect((await world.lane(one, webhooks[0]!)).position).toBe(0);
			expect((await world.lane(two, webhooks[1]!)).position).toBe(1);
			expect(await world.queues(two, webhooks[1]!)).toEqual([retry(webhooks[1]!, 1, START)]);
		});

		test("an attempt is never logged twice: its settlement is refused completely", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const events = await world.publish(project, "a", "a");
			const lease = await world.lease(project);
			const first = world.attempt(webhook, events[0]!);
			const lane = (position: number) => [{ webhookId: webhook, position, open: [] }];
			expect(await world.settle(lease, { attempts: [first], lanes: lane(1) })).toBe("settled");
			const again = [world.attempt(webhook, events[1]!), world.attempt(webhook, events[0]!)];
			expect(await world.settle(lease, { attempts: again, lanes: lane(2) })).toBe("stale");
			const { rows } = await world.storage.listAttempts({ projectId: project, filter: {}, page: ALL });
			expect(rows.map(({ id }) => id)).toEqual([first.id]);
			expect((await world.lane(project, webhook)).position).toBe(1);
		});

		test("the same for one settled while an earlier one was open, a retry, and a deleted webhook's attempts in flight", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const [first, second, third] = await world.publish(project, "a", "a", "a");
			const lease = await world.lease(project);
			const lanes = [{ webhookId: webhook, position: 3, open: [2] }];
			const attempts = [world.attempt(webhook, first!), world.attempt(webhook, third!)];
			const retried = world.attempt(webhook, first!, { attempt: 2 });
			expect(await world.settle(lease, { attempts, lanes })).toBe("settled");
			expect(await world.settle(lease, { attempts: [retried] })).toBe("settled");
			expect(await world.settle(lease, { attempts: [world.attempt(webhook, third!)], lanes })).toBe("stale");
			const twice = world.attempt(webhook, first!, { attempt: 2 });
			expect(await world.settle(lease, { attempts: [twice] })).toBe("stale");
			await world.storage.deleteWebhook({ projectId: project, webhookId: webhook });
			const late = world.attempt(webhook, second!);
			expect(await world.settle(lease, { attempts: [late] })).toBe("settled");
			expect(await world.settle(lease, { attempts: [world.attempt(webhook, second!)] })).toBe("stale");
			const { rows } = await world.storage.listAttempts({ projectId: project, filter: {}, page: ALL });
			const logged = [...attempts, retried, late].map(({ id }) => id);
			expect(rows.map(({ id }) => id).sort()).toEqual(logged.sort());
		});

		test("settled events stay settled if the owner has moved the lane in the meantime", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"], { maxInFlight: 3 });
			const [, second, third, fourth] = await world.publish(project, "a", "a", "a", "a");
			const lease = await world.lease(project);
			// The first is still in flight when the project's owner skips the backlog; the node that runs the lane doesn't know
			// yet.
			const at = (position: number, ...open: number[]) => [{ webhookId: webhook, position, open }];
			await world.settle(lease, { attempts: [world.attempt(webhook, second!)], lanes: at(3, 1, 3) });
			await world.storage.updateWebhook({
				projectId: project,
				webhookId: webhook,
				patch: { status: "active", from: "now" },
			});
			const [fifth, sixth] = await world.publish(project, "a", "a");
			const attempts = [third!, fourth!, sixth!].map((event) => world.attempt(webhook, event));
			expect(await world.settle(lease, { attempts, lanes: at(6, 1, 5) })).toBe("settled");
			expect(await world.lane(project, webhook)).toMatchObject({ position: 6, open: [5] });
			const more = [world.attempt(webhook, fifth!)];
			expect(await world.settle(lease, { attempts: more, lanes: at(6, 1) })).toBe("settled");
			expect(await world.lane(project, webhook)).toMatchObject({ position: 6, open: [] });
			const again = [world.attempt(webhook, sixth!)];
			expect(
				await world.settle(lease, { attempts: again, lanes: [{ webhookId: webhook, position: 6, open: [] }] }),
			).toBe("stale");
		});

		// The log said that they were being retried, for good.
		test("a deleted webhook's attempts in flight are logged, and what follows them waits to be closed", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const events = await world.publish(project, "a", "a");
			const lease = await world.lease(project);
			await world.settle(lease, {
				attempts: [world.attempt(webhook, events[0]!, { status: "retrying" })],
				schedule: [retry(webhook, 1, START)],
			});
			await world.storage.deleteWebhook({ projectId: project, webhookId: webhook });
			const pending = await world.queues(project, webhook);
			expect(pending).toMatchObject([{ seq: 1 }]);
			const outcome = {
				attempts: [world.attempt(webhook, events[1]!, { status: "retrying" })],
				schedule: [retry(webhook, 2, START)],
				lanes: [{ webhookId: webhook, position: 2, open: [] }],
			};
			expect(await world.settle(lease, outcome)).toBe("settled");
			expect(await world.queues(project, webhook)).toEqual([...pending, retry(webhook, 2, START)]);
			const { rows } = await world.storage.listAttempts({
				projectId: project,
				filter: { webhookIds: [webhook] },
				page: ALL,
			});
			expect(rows).toHaveLength(2);
			const closing = async () => (await world.storage.loadLanes({ projectId: project })).lanes;
			expect(await closing()).toMatchObject([{ webhookId: webhook, status: "deleted" }]);
			expect(
				await world.storage.getDelivery({ projectId: project, webhookId: webhook, eventId: events[0]!.id }),
			).toBeNull();
		});

		test("one with nothing pending is loaded again once an attempt that was in flight is to be closed", async () => {
			const project = await world.project();
			const [webhook, other] = [await world.webhook(project, ["a"]), await world.webhook(project, ["a"])];
			const [event] = await world.publish(project, "a");
			const lease = await world.lease(project);
			await world.storage.deleteWebhook({ projectId: project, webhookId: webhook });
			const deleted = async () =>
				(await world.storage.loadLanes({ projectId: project })).lanes.filter(({ status }) => status === "deleted");
			expect(await deleted()).toEqual([]);
			const both = [webhook, other];
			const outcome = {
				attempts: both.map((id) => world.attempt(id, event!, { status: "retrying" })),
				schedule: both.map((id) => retry(id, 1, START)),
			};
			expect(await world.settle(lease, outcome)).toBe("settled");
			expect(await deleted()).toMatchObject([{ webhookId: webhook }]);
			expect(await world.queues(project, webhook)).toEqual([retry(webhook, 1, START)]);
			const closed = {
				attempts: [world.attempt(webhook, event!, { attempt: 2, errorCode: "deleted" })],
				unschedule: [{ webhookId: webhook, seq: 1 }],
			};
			expect(await world.settle(lease, closed)).toBe("settled");
			await world.storage.endDeletion({ projectId: project, webhookId: webhook });
			expect(await deleted()).toEqual([]);
		});

		test("a retry in flight when its webhook was deleted can be closed as the next attempt", async () => {
			// It once stayed pending with the number of the attempt just logged, and closing it was refused forever.
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const [event] = await world.publish(project, "a");
			const lease = await world.lease(project);
			const attempt = (number: number) => world.attempt(webhook, event!, { attempt: number, status: "retrying" });
			const next = (number: number) => ({ ...retry(webhook, 1, START), attempt: number });
			expect(await world.settle(lease, { attempts: [attempt(1)], schedule: [next(2)] })).toBe("settled");
			await world.storage.deleteWebhook({ projectId: project, webhookId: webhook });
			expect(await world.settle(lease, { attempts: [attempt(2)], schedule: [next(3)] })).toBe("settled");
			expect(await world.queues(project, webhook)).toMatchObject([{ seq: 1, attempt: 3 }]);
			const closing = { attempts: [attempt(3)], unschedule: [{ webhookId: webhook, seq: 1 }] };
			expect(await world.settle(lease, closing)).toBe("settled");
			expect(await world.queues(project, webhook)).toEqual([]);
		});

		test("a deleted webhook is loaded, without a secret or a type, until nothing is pending for it", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const idle = await world.webhook(project, ["a"]);
			await world.publish(project, "a", "a");
			const lease = await world.lease(project);
			await world.settle(lease, { schedule: [retry(webhook, 1, START), retry(webhook, 2, START)] });
			for (const id of [webhook, idle]) await world.storage.deleteWebhook({ projectId: project, webhookId: id });
			const lanes = async () => (await world.storage.loadLanes({ projectId: project })).lanes;
			const closing = { webhookId: webhook, status: "deleted", position: 2, subscriptions: new Map() };
			expect(await lanes()).toMatchObject([closing]);
			expect((await lanes())[0]!.sealedDigest).toHaveLength(0);
			for (const seq of [1, 2]) {
				await world.storage.endDeletion({ projectId: project, webhookId: webhook });
				expect(await lanes()).toMatchObject([closing]);
				await world.settle(lease, { unschedule: [{ webhookId: webhook, seq }] });
			}
			await world.storage.endDeletion({ projectId: project, webhookId: webhook });
			expect(await lanes()).toEqual([]);
		});

		test("any series of settlements gives the same lanes and queues as two plain tables", async () => {
			const delivery = { webhook: fc.integer({ min: 0, max: 1 }), seq: fc.integer({ min: 1, max: 12 }) };
			const waiting = fc.record({
				...delivery,
				queue: fc.constantFrom(...QUEUES),
				replay: fc.integer({ min: 0, max: 2 }),
				attempt: fc.integer({ min: 1, max: 8 }),
				dueAt: fc.integer({ min: START, max: START + 3 }),
			});
			const step = fc.record({
				// A settlement schedules or unschedules a delivery once.
				schedule: fc.uniqueArray(waiting, { maxLength: 4, size: "max", selector: keyOf }),
				unschedule: fc.uniqueArray(fc.record(delivery), { maxLength: 3, size: "max", selector: keyOf }),
				lanes: fc.uniqueArray(
					fc.record({
						webhook: delivery.webhook,
						position: fc.integer({ min: 0, max: 20 }),
						open: fc.uniqueArray(fc.integer({ min: 1, max: 20 }), { maxLength: 12, size: "max" }),
					}),
					{ maxLength: 2, size: "max", selector: ({ webhook }) => webhook },
				),
			});
			await fc.assert(
				fc.asyncProperty(
					fc.array(step, { maxLength: 10, size: "max" }),
					fc.integer({ min: 1, max: 5 }),
					async (steps, window) => {
						const project = await world.project();
						const webhooks = [await world.webhook(project, ["a"]), await world.webhook(project, ["a"])];
						// Lane positions, none of which is beyond the end of the log.
						await world.publish(project, ...Array.from({ length: 20 }, () => "a"));
						const lease = await world.lease(project);
						const lanes = webhooks.map(() => ({ position: 0, settled: new Set<number>() }));
						const table = new Map<string, Retry>();
						const named = <T extends { webhook: number }>({ webhook, ...rest }: T) => ({
							...rest,
							webhookId: webhooks[webhook]!,
						});
						for (const { schedule, unschedule, lanes: moves } of steps) {
							const dropped = unschedule.filter((one) => !schedule.some((other) => keyOf(other) === keyOf(one)));
							const verdict = await world.settle(lease, {
								schedule: schedule.map(named),
								unschedule: dropped.map(named),
								lanes: moves.map((move) => ({ ...named(move), open: openOf(move) })),
							});
							expect(verdict).toBe("settled");
							for (const one of dropped) table.delete(keyOf(one));
							for (const one of schedule) table.set(keyOf(one), named(one));
							for (const move of moves) {
								const lane = lanes[move.webhook]!;
								lane.position = Math.max(lane.position, move.position);
								for (const seq of upTo(move.position)) if (!move.open.includes(seq)) lane.settled.add(seq);
							}
						}
						for (const [i, webhookId] of webhooks.entries()) {
							expect(await world.lane(project, webhookId)).toMatchObject({
								position: lanes[i]!.position,
								open: upTo(lanes[i]!.position).filter((seq) => !lanes[i]!.settled.has(seq)),
							});
							for (const queue of QUEUES) {
								const wanted = [...table.values()]
									.filter((one) => one.webhookId === webhookId && one.queue === queue)
									.sort((a, b) => a.dueAt - b.dueAt || a.seq - b.seq);
								expect(await readByWindows(world, project, webhookId, queue, window)).toEqual(wanted);
							}
						}
					},
				),
				{ numRuns: 40 },
			);
		});
	});
}

const upTo = (position: number): number[] => Array.from({ length: position }, (_, i) => i + 1);

const openOf = ({ position, open }: { position: number; open: number[] }): number[] =>
	open.filter((seq) => seq <= position).sort((a, b) => a - b);

const keyOf = ({ webhook, seq }: { webhook: number; seq: number }): string => `${webhook}/${seq}`;

const retry = (webhookId: string, seq: number, dueAt: number): Retry => ({
	webhookId,
	seq,
	queue: "retry",
	replay: 0,
	attempt: 2,
	dueAt,
});

async function readByWindows(
	world: World,
	project: string,
	webhookId: string,
	queue: Retry["queue"],
	window: number,
): Promise<Retry[]> {
	const all: Retry[] = [];
	for (;;) {
		const rows = await world.storage.readRetries({
			projectId: project,
			webhookId,
			queue,
			limit: window,
			after: all.at(-1),
		});
		all.push(...rows);
		if (rows.length < window) return all;
	}
}
