import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AppendResult, NewEvent } from "../../../src/storage/port.ts";
import type { StorageHarness } from "./harness.ts";
import { plain, START, WIDE, World } from "./world.ts";

const TYPES = ["purchase.completed", "customer.created", "delivery.failed"];

export function describeLog(harness: StorageHarness): void {
	describe("event log", () => {
		let world: World;
		beforeAll(async () => {
			world = await World.open(harness);
		});
		afterAll(() => world.dispose());

		test("returns the end of a log, and that nothing was lost since the current epoch", async () => {
			const project = await world.project();
			expect(await world.storage.readLogEnd({ projectId: project })).toEqual({ lastSeq: 0, kept: null });
			await world.publish(project, "a", "a");
			expect(await world.storage.readLogEnd({ projectId: project, since: world.storage.epoch })).toEqual({
				lastSeq: 2,
				kept: null,
			});
			expect(await world.storage.readLogEnd({ projectId: world.id("project") })).toBeNull();
		});

		test("events are numbered from 1 without gaps in each project, and read back byte for byte", async () => {
			const [a, b] = [await world.project(), await world.project()];
			const body = Buffer.from('{"text":"Füße \\u0000 \u{1f4ef}"}');
			const first = world.event(a, "purchase.completed", { body });
			const request = (projectId: string, events: NewEvent[]) => ({ projectId, publishedAt: START + 5, events });
			const results = await world.storage.appendEvents({
				requests: [
					request(a, [first, world.event(a, "customer.created")]),
					request(b, [world.event(b, "purchase.completed")]),
					request(a, [world.event(a, "purchase.completed")]),
				],
			});
			const seqs = results.map((result) => result.kind === "appended" && result.events.map(({ seq }) => seq));
			expect(seqs).toEqual([[1, 2], [1], [3]]);
			const log = await world.log(a);
			expect(log.map(({ seq }) => seq)).toEqual([1, 2, 3]);
			expect(plain(log[0])).toEqual({
				seq: 1,
				id: first.id,
				type: "purchase.completed",
				createdAt: START,
				publishedAt: START + 5,
				body: body.toString("hex"),
			});
		});

		test("a missing project appends nothing, and doesn't affect others in the call", async () => {
			const project = await world.project();
			const missing = world.id("project");
			const results = await world.storage.appendEvents({
				requests: [
					{ projectId: missing, publishedAt: START, events: [world.event(missing, "purchase.completed")] },
					{ projectId: project, publishedAt: START, events: [world.event(project, "purchase.completed")] },
				],
			});
			expect(results.map(({ kind }) => kind)).toEqual(["no_project", "appended"]);
			expect(await world.log(missing)).toEqual([]);
		});

		test("any series of publishes gives the same log as a plain list: gapless, idempotent, each request whole", async () => {
			const draft = fc.record({
				id: fc.integer({ min: 0, max: 9 }),
				type: fc.constantFrom(...TYPES),
				data: fc.constantFrom('{"n":1}', '{"n":2}'),
				createdAt: fc.constantFrom(START, START + 1),
				createdAtGiven: fc.boolean(),
			});
			const request = fc.record({
				project: fc.integer({ min: 0, max: 1 }),
				events: fc.array(draft, { maxLength: 5, size: "max" }),
			});
			const calls = fc.array(fc.array(request, { minLength: 1, maxLength: 3, size: "max" }), {
				maxLength: 8,
				size: "max",
			});
			await fc.assert(
				fc.asyncProperty(calls, async (series) => {
					const projects = [await world.project(), await world.project()];
					const pool = Array.from({ length: 10 }, () => world.id("event"));
					const models = projects.map(() => new LogModel());
					for (const call of series) {
						const requests = call.map(({ project, events }) => ({
							projectId: projects[project]!,
							publishedAt: START,
							events: events.map(({ id, type, ...about }) =>
								world.event(projects[project]!, type, { ...about, id: pool[id]! }),
							),
						}));
						const wanted = call.map(({ project, events }) => models[project]!.append(events));
						expect(await world.storage.appendEvents({ requests })).toEqual(wanted);
					}
					for (const [i, project] of projects.entries()) {
						const log = await world.log(project);
						const seen = log.map(({ seq, id, type, createdAt }) => ({ seq, id, type, createdAt }));
						const model = models[i]!.events.map(({ id, type, createdAt }, at) => ({
							seq: at + 1,
							id: pool[id]!,
							type,
							createdAt,
						}));
						expect(seen).toEqual(model);
					}
				}),
				{ numRuns: 40 },
			);
		});

		test("a window is limited in events and bytes, has at least one event, and only the requested types", async () => {
			const lengths = fc.array(fc.tuple(fc.constantFrom(...TYPES), fc.integer({ min: 2, max: 40 })), {
				maxLength: 25,
				size: "max",
			});
			const window = fc.record({
				maxEvents: fc.integer({ min: 1, max: 30 }),
				maxBytes: fc.integer({ min: 0, max: 400 }),
			});
			const types = fc.option(fc.subarray([...TYPES, "never.seen"], { minLength: 1 }), { nil: undefined });
			await fc.assert(
				fc.asyncProperty(lengths, fc.integer({ min: 0, max: 26 }), window, types, async (log, after, bounds, only) => {
					const projectId = await world.project();
					const events = log.map(([type, length]) => world.event(projectId, type, { body: Buffer.alloc(length, "x") }));
					await world.storage.appendEvents({ requests: [{ projectId, publishedAt: START, events }] });
					const wanted: number[] = [];
					let bytes = 0;
					for (const [i, [type, length]] of log.entries()) {
						if (i + 1 <= after || only?.includes(type) === false) continue;
						if (wanted.length === bounds.maxEvents || (wanted.length > 0 && bytes + length > bounds.maxBytes)) break;
						bytes += length;
						wanted.push(i + 1);
					}
					const read = await world.storage.readLog({ projectId, after, window: bounds, types: only });
					expect(read.map(({ seq }) => seq)).toEqual(wanted);
				}),
				{ numRuns: 40 },
			);
		});

		test("events are found by number and id, only within their project", async () => {
			const [project, other] = [await world.project(), await world.project()];
			const [first, , third] = await world.publish(project, ...TYPES);
			const read = await world.storage.readEvents({ projectId: project, seqs: [3, 99, 1] });
			expect(read.map(({ id }) => id).sort()).toEqual([first!.id, third!.id].sort());
			expect((await world.storage.findEvent({ projectId: project, eventId: third!.id }))?.seq).toBe(3);
			expect(await world.storage.findEvent({ projectId: other, eventId: third!.id })).toBeNull();
			expect(await world.storage.readEvents({ projectId: other, seqs: [1] })).toEqual([]);
		});

		test("the same id in two projects is two events", async () => {
			const [a, b] = [await world.project(), await world.project()];
			const id = world.id("event");
			const requests = [a, b].map((projectId) => ({
				projectId,
				publishedAt: START,
				events: [world.event(projectId, "purchase.completed", { id })],
			}));
			const results = await world.storage.appendEvents({ requests });
			expect(results.map(({ kind }) => kind)).toEqual(["appended", "appended"]);
		});

		test("a test event is outside the log: it is found, but not read or numbered with it", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["purchase.completed", "customer.created"]);
			const tests = [world.event(project, "purchase.completed"), world.event(project, "customer.created")];
			for (const { createdAtGiven: _, ...event } of tests)
				expect(await world.storage.appendTestEvent({ projectId: project, webhookId: webhook, event })).toBe("queued");
			const [published] = await world.publish(project, "purchase.completed");
			expect(published!.seq).toBe(1);
			expect((await world.log(project)).map(({ id }) => id)).toEqual([published!.id]);
			expect(
				await world.storage.readLog({ projectId: project, after: -10, window: WIDE, types: ["customer.created"] }),
			).toEqual([]);
			const found = await Promise.all(
				tests.map(({ id }) => world.storage.findEvent({ projectId: project, eventId: id })),
			);
			expect(found.map((event) => event?.seq)).toEqual([-1, -2]);
			expect(await world.storage.readEvents({ projectId: project, seqs: [-2] })).toHaveLength(1);
			expect((await world.queues(project, webhook)).map(({ seq }) => seq)).toEqual([-2, -1]);
			const { createdAtGiven: _, ...stray } = world.event(project, "purchase.completed");
			expect(
				await world.storage.appendTestEvent({ projectId: project, webhookId: world.id("webhook"), event: stray }),
			).toBe("no_webhook");
		});

		test("a test event of an unsubscribed type isn't stored", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["purchase.completed"]);
			for (const type of ["customer.created", "never.seen"]) {
				const { createdAtGiven: _, ...event } = world.event(project, type);
				expect(await world.storage.appendTestEvent({ projectId: project, webhookId: webhook, event })).toBe(
					"not_subscribed",
				);
				expect(await world.storage.findEvent({ projectId: project, eventId: event.id })).toBeNull();
			}
			expect(await world.queues(project, webhook)).toEqual([]);
		});
	});
}

interface Draft {
	id: number;
	type: string;
	data: string;
	createdAt: number;
	createdAtGiven: boolean;
}

/** The log as a plain list. */
class LogModel {
	events: Draft[] = [];

	append(drafts: readonly Draft[]): AppendResult {
		const next = [...this.events];
		const conflicts: number[] = [];
		const appended = drafts.map((draft, index) => {
			const at = next.findIndex(({ id }) => id === draft.id);
			const there = next[at];
			if (there === undefined) return { seq: next.push(draft), createdAt: draft.createdAt, repeated: false };
			const sameTime = !draft.createdAtGiven || draft.createdAt === there.createdAt;
			if (draft.type !== there.type || draft.data !== there.data || !sameTime) conflicts.push(index);
			return { seq: at + 1, createdAt: there.createdAt, repeated: true };
		});
		if (conflicts.length > 0) return { kind: "conflict", indexes: conflicts };
		this.events = next;
		return { kind: "appended", events: appended };
	}
}
