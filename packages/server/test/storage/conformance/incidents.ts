import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { LIMITS, listIncidents } from "../../../src/registry/incidents.ts";
import type { AttemptStatus, Lease, NewAttempt } from "../../../src/storage/port.ts";
import type { StorageHarness } from "./harness.ts";
import { START, World } from "./world.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NOW = START + 24 * HOUR;

/** A webhook and its attempts, by minutes before {@link NOW}. */
class Course {
	readonly #attempts: NewAttempt[] = [];
	readonly #waiting = new Map<number, { attempt: number; dueAt: number }>();
	readonly #made = new Map<number, number>();
	readonly #world: World;
	readonly #webhook: string;
	readonly #events: readonly { seq: number; type: string }[];

	constructor(world: World, webhook: string, events: readonly { seq: number; type: string }[]) {
		this.#world = world;
		this.#webhook = webhook;
		this.#events = events;
	}

	/** An attempt of the nth event. */
	add(nth: number, minutesAgo: number, status: AttemptStatus, about: Partial<NewAttempt> = {}): this {
		const event = this.#events[nth]!;
		const attempt = (this.#made.get(event.seq) ?? 0) + 1;
		this.#made.set(event.seq, attempt);
		const startedAt = NOW - minutesAgo * MINUTE;
		const statusCode = status === "delivered" ? 200 : 500;
		this.#attempts.push(
			this.#world.attempt(this.#webhook, event, { attempt, status, statusCode, startedAt, responseMs: 250, ...about }),
		);
		if (status === "retrying") this.#waiting.set(event.seq, { attempt: attempt + 1, dueAt: NOW + nth * MINUTE });
		else this.#waiting.delete(event.seq);
		return this;
	}

	async settle(lease: Lease): Promise<void> {
		const schedule = [...this.#waiting].map(([seq, waiting]) => ({
			...{ webhookId: this.#webhook, seq, queue: "retry" as const, replay: 0 },
			...waiting,
		}));
		const lanes = [{ webhookId: this.#webhook, position: this.#events.at(-1)!.seq, open: [] }];
		expect(await this.#world.settle(lease, { attempts: this.#attempts, schedule, lanes })).toBe("settled");
	}
}

export function describeIncidents(harness: StorageHarness): void {
	describe("incidents", () => {
		let world: World;
		beforeEach(async () => {
			world = await World.open(harness);
		});
		afterEach(() => world.dispose());

		async function begin(events: number) {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const published = await world.publish(project, ...Array.from({ length: events }, () => "a"));
			world.clock.time = NOW;
			return { project, webhook, published, course: new Course(world, webhook, published) };
		}
		const list = (project: string, webhooks: readonly string[], limit = 5) =>
			listIncidents(world.storage, project, webhooks, { now: NOW, limit });

		test("an outage is one thing, with what has become of its deliveries", async () => {
			const { project, webhook, published, course } = await begin(7);
			course.add(0, 300, "delivered");
			for (const nth of [1, 2, 3, 4]) course.add(nth, 200, "retrying");
			course.add(5, 190, "failed", { statusCode: 503 });
			course.add(1, 150, "retrying").add(1, 147, "delivered");
			course.add(2, 146, "retrying").add(3, 146, "failed");
			course.add(2, 144, "delivered").add(6, 144, "delivered");
			const lease = await world.lease(project);
			await course.settle(lease);
			const dismissed = {
				projectId: project,
				at: NOW,
				deliveries: [{ webhookId: webhook, eventId: published[5]!.id }],
			};
			await world.storage.dismissDeliveries(dismissed);
			expect(await list(project, [webhook])).toEqual([
				{
					webhookId: webhook,
					from: NOW - 200 * MINUTE,
					until: NOW - 145 * MINUTE,
					isOngoing: false,
					// One was delivered within the five minutes before it failed again.
					failed: 8,
					delivered: 1,
					response: { statusCode: 500, errorCode: null },
					held: { count: 5, capped: false, delivered: 2, waiting: 1, failed: 1, dismissed: 1 },
					lastDeliveredAt: NOW - 144 * MINUTE + 250,
					nextRetryAt: NOW + 4 * MINUTE,
				},
			]);
		});

		// Deliveries that failed in the minute in which the receiver recovered were no longer among those that it held up, and
		// later they were, but it ended before them.
		test("failures in the minutes in which an outage began and ended belong to it", async () => {
			const { project, webhook, course } = await begin(11);
			course.add(0, 14, "delivered").add(1, 14, "retrying");
			course.add(2, 13, "delivered").add(3, 13, "retrying");
			for (const nth of [4, 5, 6]) course.add(nth, 12, "retrying");
			course.add(7, 11, "delivered").add(8, 11, "retrying");
			course.add(9, 10, "delivered").add(10, 10, "retrying");
			await course.settle(await world.lease(project));
			expect(await list(project, [webhook])).toMatchObject([
				{ from: NOW - 13 * MINUTE, until: NOW - 10 * MINUTE, failed: 5, delivered: 2, held: { count: 5 } },
			]);
		});

		// Both counted those that failed in the minute between them.
		test("of two outages a minute apart, each failure belongs to one", async () => {
			const { project, webhook, course } = await begin(20);
			for (const nth of [0, 1, 2]) course.add(nth, 12, "failed");
			for (const nth of [3, 4, 5, 6, 7, 8, 9]) course.add(nth, 11, "delivered");
			course.add(10, 11, "failed");
			for (const nth of [11, 12, 13]) course.add(nth, 10, "failed");
			course.add(14, 9, "delivered").add(15, 9, "failed").add(16, 9, "delivered");
			await course.settle(await world.lease(project));
			expect(await list(project, [webhook])).toMatchObject([
				{ from: NOW - 10 * MINUTE, until: NOW - 8 * MINUTE, held: { count: 4 } },
				{ from: NOW - 12 * MINUTE, until: NOW - 10 * MINUTE, held: { count: 4 } },
			]);
		});

		test("an ongoing one has no end, and names why there is no response", async () => {
			const { project, webhook, course } = await begin(4);
			course.add(0, 60, "delivered");
			for (const nth of [1, 2, 3])
				course.add(nth, 10 - nth, "retrying", { statusCode: null, errorCode: "connection_refused", sent: null });
			await course.settle(await world.lease(project));
			expect(await list(project, [webhook])).toMatchObject([
				{
					from: NOW - 9 * MINUTE,
					isOngoing: true,
					response: { statusCode: null, errorCode: "connection_refused" },
					held: { count: 3, waiting: 3 },
					lastDeliveredAt: null,
				},
			]);
		});

		// It was ongoing until something was delivered in a later minute, and offered no action until then.
		test("one is over as soon as an event is delivered, even within the same minute", async () => {
			const { project, webhook, published, course } = await begin(5);
			for (const nth of [0, 1, 2]) course.add(nth, 5 - nth / 10, "retrying");
			const lease = await world.lease(project);
			await course.settle(lease);
			const { createdAtGiven: _, ...sample } = world.event(project, "a");
			await world.storage.appendTestEvent({ projectId: project, webhookId: webhook, event: sample });
			const tested = { attempt: 1, status: "delivered", startedAt: NOW - 4.75 * MINUTE } as const;
			await world.settle(lease, { attempts: [world.attempt(webhook, { seq: -1, type: "a" }, tested)] });
			expect(await list(project, [webhook])).toMatchObject([{ isOngoing: true }]);
			await new Course(world, webhook, published).add(3, 4.4, "delivered").settle(lease);
			expect(await list(project, [webhook])).toMatchObject([
				{ until: NOW - 4 * MINUTE, isOngoing: false, held: { count: 3, waiting: 3 } },
			]);
			await new Course(world, webhook, published).add(4, 4.3, "retrying").settle(lease);
			expect(await list(project, [webhook])).toMatchObject([{ isOngoing: true, held: { count: 4 } }]);
		});

		test("closed deliveries and test events make none", async () => {
			const { project, webhook, course } = await begin(5);
			for (const nth of [0, 1, 2, 3, 4])
				course.add(nth, 30, "failed", { statusCode: null, errorCode: "skipped", sent: null });
			const lease = await world.lease(project);
			await course.settle(lease);
			const { createdAtGiven: _, ...sample } = world.event(project, "a");
			await world.storage.appendTestEvent({ projectId: project, webhookId: webhook, event: sample });
			const attempts = [1, 2, 3, 4].map((attempt) =>
				world.attempt(webhook, { seq: -1, type: "a" }, { attempt, status: "retrying", startedAt: NOW - 20 * MINUTE }),
			);
			await world.settle(lease, { attempts });
			expect(await list(project, [webhook])).toEqual([]);
			expect(await list(project, [])).toEqual([]);
			expect(await list(world.id("project"), [webhook])).toEqual([]);
		});

		test("those of several webhooks are listed newest first, up to a limit, for two days", async () => {
			const { project, webhook, published, course } = await begin(60);
			const other = await world.webhook(project, ["a"]);
			const second = new Course(world, other, published);
			const fail = (on: Course, first: number, minutesAgo: number) => {
				for (let i = 0; i < 4; i++) on.add(first + i, minutesAgo - i, "failed");
				on.add(first + 4, minutesAgo - 5, "delivered");
			};
			fail(course, 0, 24 * 60 + 30);
			fail(course, 5, 700);
			fail(second, 0, 690);
			fail(course, 10, 20);
			const lease = await world.lease(project);
			await course.settle(lease);
			await second.settle(lease);
			const found = await list(project, [webhook, other]);
			expect(found.map(({ webhookId, from }) => [webhookId, (NOW - from) / MINUTE])).toEqual([
				[webhook, 20],
				[other, 690],
				[webhook, 700],
				[webhook, 24 * 60 + 30],
			]);
			// Each counts only its own webhook's failed attempts, even of events that another one failed, too.
			for (const { held, response } of found) {
				expect(held).toEqual({ count: 4, failed: 4, delivered: 0, waiting: 0, dismissed: 0, capped: false });
				expect(response).toMatchObject({ statusCode: 500 });
			}
			expect(await list(project, [webhook, other], 2)).toEqual(found.slice(0, 2));
			expect(await list(project, [other])).toEqual([found[1]]);
			const late = { now: NOW + 46 * HOUR, limit: 5 };
			expect(await listIncidents(world.storage, project, [webhook, other], late)).toEqual([found[0]]);
		});

		// An outage with 35 deliveries was reported with "at least 35", because each had failed eight times.
		test("counts deliveries that failed many times", async () => {
			const { project, webhook, course } = await begin(80);
			for (let retry = 0; retry < 5; retry++)
				for (let nth = 0; nth < 80; nth++) course.add(nth, 60 - 5 * retry, "retrying");
			await course.settle(await world.lease(project));
			expect(await list(project, [webhook])).toMatchObject([
				{ failed: 400, held: { count: 80, capped: false, waiting: 80 } },
			]);
		});

		test("examines the newest deliveries of a long outage", async () => {
			const count = 2 * LIMITS.deliveries + 50;
			const { project, webhook, course } = await begin(count);
			for (let nth = 0; nth < count; nth++)
				course.add(nth, 90 - nth / 10, nth < LIMITS.deliveries ? "failed" : "retrying");
			await course.settle(await world.lease(project));
			const [incident] = await list(project, [webhook]);
			expect(incident).toMatchObject({
				failed: count,
				isOngoing: true,
				held: { count: LIMITS.deliveries, capped: true, waiting: LIMITS.deliveries, failed: 0 },
			});
		});
	});
}
