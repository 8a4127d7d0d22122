import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { StorageHarness } from "./harness.ts";
import { START, World } from "./world.ts";

const TYPES = ["a", "b", "c", "d"];

export function describeGauges(harness: StorageHarness): void {
	describe("backlogs and gauges", () => {
		let world: World;
		beforeEach(async () => {
			world = await World.open(harness);
		});
		afterEach(() => world.dispose());

		test("a backlog always equals a count of the log, through any subscribing, settling and publishing", async () => {
			const types = fc.subarray(TYPES, { minLength: 1 });
			const publish = fc.record({
				kind: fc.constant("publish" as const),
				types: fc.array(fc.constantFrom(...TYPES), { minLength: 1, maxLength: 6, size: "max" }),
				refusedBefore: fc.boolean(),
			});
			const move = fc.record({
				kind: fc.constant("move" as const),
				by: fc.nat({ max: 3 }),
				open: fc.array(fc.boolean(), { maxLength: 8, size: "max" }),
			});
			const step = fc.oneof(
				{ weight: 3, arbitrary: publish },
				{ weight: 3, arbitrary: move },
				{ weight: 1, arbitrary: fc.record({ kind: fc.constant("subscribe" as const), types }) },
				{ weight: 1, arbitrary: fc.record({ kind: fc.constant("now" as const) }) },
			);
			const series = fc.array(step, { minLength: 2, maxLength: 14, size: "max" });
			await fc.assert(
				fc.asyncProperty(series, types, async (steps, first) => {
					const project = await world.project();
					const webhook = await world.webhook(project, first);
					const lease = await world.lease(project);
					const log: { type: string; at: number }[] = [];
					let from = new Map(first.map((type) => [type, 0]));
					let [position, open] = [0, [] as number[]];
					const wanted = (seq: number) => seq > (from.get(log[seq - 1]!.type) ?? log.length);
					for (const one of steps) {
						world.clock.time++;
						if (one.kind === "publish") {
							if (one.refusedBefore) await publishBehindRefused(world, project, one.types);
							else await world.publish(project, ...one.types);
							log.push(...one.types.map((type) => ({ type, at: world.clock.time })));
						} else if (one.kind === "subscribe") {
							await world.storage.updateWebhook({
								projectId: project,
								webhookId: webhook,
								patch: { events: one.types },
							});
							from = new Map(one.types.map((type) => [type, from.get(type) ?? log.length]));
						} else if (one.kind === "move") {
							const passed = log.map((_, i) => i + 1).slice(position, position + one.by);
							position += passed.length;
							open = [...open, ...passed].filter((_, i) => one.open[i]);
							await world.settle(lease, { lanes: [{ webhookId: webhook, position, open }] });
						} else if (one.kind === "now") {
							[position, open] = [log.length, []];
							await world.storage.updateWebhook({ projectId: project, webhookId: webhook, patch: { from: "now" } });
						}
						const seqs = log.map((_, i) => i + 1);
						const waiting = seqs.filter((seq) => wanted(seq) && (seq > position || open.includes(seq)));
						const oldestAt = waiting.length === 0 ? null : log[waiting[0]! - 1]!.at;
						const backlogs = await world.storage.readBacklogs({ projectId: project, webhookIds: [webhook] });
						expect(backlogs.get(webhook)).toEqual({ events: waiting.length, oldestSeq: waiting[0] ?? null, oldestAt });
					}
				}),
				{ numRuns: 40 },
			);
		});

		test("backlogs are read for the webhooks of one project only", async () => {
			const [project, other] = [await world.project(), await world.project()];
			const [webhook, foreign] = [await world.webhook(project, ["a"]), await world.webhook(other, ["a"])];
			await world.publish(project, "a", "a");
			const backlogs = await world.storage.readBacklogs({
				projectId: project,
				webhookIds: [webhook, foreign, world.id("webhook")],
			});
			expect(backlogs).toEqual(new Map([[webhook, { events: 2, oldestSeq: 1, oldestAt: START }]]));
		});

		test("an open event of a type that was removed and added again isn't in the backlog", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			await world.publish(project, "a", "a");
			const lease = await world.lease(project);
			expect(await world.settle(lease, { lanes: [{ webhookId: webhook, position: 1, open: [1] }] })).toBe("settled");
			const events = async () =>
				(await world.storage.readBacklogs({ projectId: project, webhookIds: [webhook] })).get(webhook)?.events;
			expect(await events()).toBe(2);
			for (const types of [["b"], ["a", "b"]])
				await world.storage.updateWebhook({ projectId: project, webhookId: webhook, patch: { events: types } });
			expect(await events()).toBe(0);
		});

		test("gauges sum up all projects", async () => {
			const counts = { projects: 0, webhooks: 0, backlog: 0, pausedBacklog: 0, retriesWaiting: 0, deadLetters: 0 };
			const empty = { ...counts, oldestAt: null };
			expect(await world.storage.gauges()).toEqual(empty);
			const [one, two] = [await world.project(), await world.project()];
			const webhooks = [
				await world.webhook(one, ["a"]),
				await world.webhook(one, ["b"]),
				await world.webhook(two, ["a"]),
			];
			world.clock.time = START + 5;
			const [event] = await world.publish(two, "a");
			world.clock.time = START + 9;
			await world.publish(one, "a", "b", "a");
			expect(await world.storage.gauges()).toEqual({
				...empty,
				projects: 2,
				webhooks: 3,
				backlog: 4,
				oldestAt: START + 5,
			});
			await world.finish(await world.lease(two), webhooks[2]!, event!, "delivered");
			await world.storage.deleteWebhook({ projectId: one, webhookId: webhooks[1]! });
			expect(await world.storage.gauges()).toEqual({
				...empty,
				projects: 2,
				webhooks: 2,
				backlog: 2,
				oldestAt: START + 9,
			});
		});

		// An event for a paused webhook looked like one that Posthorn was late with, and the alert about that never ended.
		test("gauges count the backlog of paused webhooks separately, and its age not at all", async () => {
			const project = await world.project();
			const paused = await world.webhook(project, ["a"]);
			await world.webhook(project, ["b"]);
			const set = (status: "paused" | "active") =>
				world.storage.updateWebhook({ projectId: project, webhookId: paused, patch: { status } });
			await set("paused");
			await world.publish(project, "a", "a");
			const gauges = () => world.storage.gauges();
			expect(await gauges()).toMatchObject({ backlog: 2, pausedBacklog: 2, oldestAt: null });
			world.clock.time = START + 5;
			await world.publish(project, "b");
			expect(await gauges()).toMatchObject({ backlog: 3, pausedBacklog: 2, oldestAt: START + 5 });
			await set("active");
			expect(await gauges()).toMatchObject({ backlog: 3, pausedBacklog: 0, oldestAt: START });
		});

		test("pending retries and dead letters are counted through failure, replay, test and deletion", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const events = await world.publish(project, "a", "a", "a");
			const lease = await world.lease(project);
			const counts = async () => {
				const { retriesWaiting, deadLetters } = await world.storage.gauges();
				return [retriesWaiting, deadLetters];
			};
			const wait = (seq: number, attempt: number) => ({
				webhookId: webhook,
				seq,
				queue: "retry" as const,
				replay: 0,
				attempt,
				dueAt: START,
			});
			await world.settle(lease, { schedule: [wait(1, 2), wait(2, 2)] });
			expect(await counts()).toEqual([2, 0]);
			await world.settle(lease, { schedule: [wait(1, 3)], unschedule: [{ webhookId: webhook, seq: 3 }] });
			expect(await counts()).toEqual([2, 0]);
			for (const event of events) await world.finish(lease, webhook, event, "failed", { attempt: 3 });
			expect(await counts()).toEqual([0, 3]);
			await world.storage.replayDelivery({ projectId: project, webhookId: webhook, eventId: events[0]!.id, at: START });
			expect(await counts()).toEqual([1, 2]);
			await world.finish(lease, webhook, events[0]!, "failed", { replay: 1 });
			expect(await counts()).toEqual([0, 3]);
			await world.storage.replayMatching({ projectId: project, selection: {}, at: START + 1, limit: 10 });
			expect(await counts()).toEqual([3, 0]);
			await world.finish(lease, webhook, events[1]!, "delivered", { replay: 1 });
			await world.finish(lease, webhook, events[2]!, "failed", { replay: 1 });
			const { createdAtGiven: _, ...sample } = world.event(project, "a");
			await world.storage.appendTestEvent({ projectId: project, webhookId: webhook, event: sample });
			expect(await counts()).toEqual([2, 1]);
			await world.storage.deleteWebhook({ projectId: project, webhookId: webhook });
			expect(await counts()).toEqual([0, 0]);
		});
	});
}

/** Two requests in one call; the first is refused completely because its last event has the id of its first. */
async function publishBehindRefused(world: World, projectId: string, types: readonly string[]): Promise<void> {
	const draft = () => types.map((type) => world.event(projectId, type));
	const refused = draft();
	refused.push(world.event(projectId, types[0]!, { id: refused[0]!.id, data: '{"other":true}' }));
	const requests = [refused, draft()].map((events) => ({ projectId, publishedAt: world.clock.now(), events }));
	const results = await world.storage.appendEvents({ requests });
	expect(results.map(({ kind }) => kind)).toEqual(["conflict", "appended"]);
}
