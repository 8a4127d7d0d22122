import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AttemptFilter, LatestAttempt, NewAttempt } from "../../../src/storage/port.ts";
import type { StorageHarness } from "./harness.ts";
import { START, World } from "./world.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

export function describeReplay(harness: StorageHarness): void {
	describe("replays", () => {
		let world: World;
		beforeAll(async () => {
			world = await World.open(harness);
		});
		afterAll(() => world.dispose());

		test("a finished delivery starts a new series each time; one that is attempting doesn't", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const [event] = await world.publish(project, "a");
			const lease = await world.lease(project);
			const replay = () =>
				world.storage.replayDelivery({ projectId: project, webhookId: webhook, eventId: event!.id, at: START + 7 });
			expect(await replay()).toEqual({ kind: "attempting" });
			await world.finish(lease, webhook, event!, "delivered");
			for (const [series, status] of [[1, "failed"] as const, [2, "delivered"] as const]) {
				expect(await replay()).toEqual({ kind: "queued", replay: series });
				expect(await replay()).toEqual({ kind: "attempting" });
				const waiting = await world.storage.readRetries({
					projectId: project,
					webhookId: webhook,
					queue: "requested",
					limit: 10,
				});
				expect(waiting).toEqual([
					{ webhookId: webhook, seq: 1, queue: "requested", replay: series, attempt: 1, dueAt: START + 7 },
				]);
				await world.finish(lease, webhook, event!, status, { replay: series });
			}
			expect(await world.queues(project, webhook)).toEqual([]);
		});

		test("a delivery's state is right in the lane, during retries, at its end and during a replay", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const [event] = await world.publish(project, "a");
			const lease = await world.lease(project);
			const state = async () => {
				const delivery = await world.storage.getDelivery({
					projectId: project,
					webhookId: webhook,
					eventId: event!.id,
				});
				if (delivery === null) return null;
				const { attempts, ...rest } = delivery;
				return { ...rest, made: attempts.map(({ replay, attempt }) => `${replay}.${attempt}`) };
			};
			const attempting = { state: "attempting", attempt: 1, replay: 0, nextRetryAt: null, dismissed: false };
			expect(await state()).toEqual({ ...attempting, made: [] });
			await world.settle(lease, {
				attempts: [world.attempt(webhook, event!, { status: "retrying", nextRetryAt: START + 30_000 })],
				schedule: [{ webhookId: webhook, seq: 1, queue: "retry", replay: 0, attempt: 2, dueAt: START + 30_000 }],
				lanes: [{ webhookId: webhook, position: 1, open: [] }],
			});
			expect(await state()).toEqual({ ...attempting, attempt: 2, nextRetryAt: START + 30_000, made: ["0.1"] });
			await world.finish(lease, webhook, event!, "failed", { attempt: 2 });
			const over = { ...attempting, state: "dead_lettered", attempt: 2 };
			expect(await state()).toEqual({ ...over, made: ["0.1", "0.2"] });
			await world.storage.replayDelivery({ projectId: project, webhookId: webhook, eventId: event!.id, at: START + 9 });
			const replaying = { ...attempting, replay: 1, nextRetryAt: START + 9 };
			expect(await state()).toEqual({ ...replaying, made: ["0.1", "0.2"] });
			await world.finish(lease, webhook, event!, "delivered", { replay: 1 });
			const delivered = { ...attempting, state: "delivered", replay: 1 };
			expect(await state()).toEqual({ ...delivered, made: ["0.1", "0.2", "1.1"] });
		});

		test("the newest attempts of several deliveries are read in their order", async () => {
			const project = await world.project();
			const [one, other] = [await world.webhook(project, ["a"]), await world.webhook(project, ["a"])];
			const [event, later] = await world.publish(project, "a", "a");
			const lease = await world.lease(project);
			const retrying = world.attempt(one, event!, { status: "retrying", nextRetryAt: START + 30_000 });
			await world.settle(lease, {
				attempts: [retrying],
				schedule: [{ webhookId: one, seq: 1, queue: "retry", replay: 0, attempt: 2, dueAt: START + 30_000 }],
				lanes: [{ webhookId: one, position: 1, open: [] }],
			});
			const failed = await world.finish(lease, other, event!, "failed");
			const read = () =>
				world.storage.readLatest({
					projectId: project,
					deliveries: [
						{ webhookId: other, seq: event!.seq },
						{ webhookId: one, seq: event!.seq },
						{ webhookId: world.id("webhook"), seq: event!.seq },
						{ webhookId: one, seq: later!.seq },
					],
				});
			const shown = ({ sent: _, responseBody: __, responseTruncated: ___, eventType: ____, ...rest }: NewAttempt) =>
				rest;
			const none = { newest: null, dismissed: false, next: null };
			const latestOf = (attempt: NewAttempt, next: LatestAttempt["next"] = null) => {
				return { ...none, newest: shown(attempt), next };
			};
			const pending = { attempt: 2, replay: 0, dueAt: START + 30_000 };
			expect(await read()).toEqual([latestOf(failed), latestOf(retrying, pending), none, none]);
			await world.storage.replayDelivery({ projectId: project, webhookId: other, eventId: event!.id, at: START + 5 });
			expect((await read())[0]).toEqual(latestOf(failed, { attempt: 1, replay: 1, dueAt: START + 5 }));
		});

		test("an entry of the log is listed with what has become of its delivery", async () => {
			const project = await world.project();
			const [one, other] = [await world.webhook(project, ["a"]), await world.webhook(project, ["a"])];
			const [event, later] = await world.publish(project, "a", "a");
			const lease = await world.lease(project);
			const first = world.attempt(one, event!, { status: "retrying", startedAt: START });
			const second = world.attempt(one, event!, { status: "retrying", startedAt: START + 1, attempt: 2 });
			await world.settle(lease, {
				attempts: [first, second],
				schedule: [{ webhookId: one, seq: 1, queue: "retry", replay: 0, attempt: 3, dueAt: START + 30_000 }],
			});
			const delivered = await world.finish(lease, one, later!, "delivered", { startedAt: START + 2 });
			const failed = await world.finish(lease, other, event!, "failed", { startedAt: START + 3 });
			const list = async (filter: AttemptFilter = {}) => {
				const page = await world.storage.listFollowedAttempts({ projectId: project, filter, page: { limit: 10 } });
				const plain = await world.storage.listAttemptSummaries({ projectId: project, filter, page: { limit: 10 } });
				expect(page.next).toBe(plain.next);
				expect(
					page.rows.map(({ isFollowed: _, dismissed: __, webhookDeleted: ___, next: ____, ...row }) => row),
				).toEqual(plain.rows);
				return page.rows.map(({ id, isFollowed, dismissed, webhookDeleted, next }) => {
					return { id, isFollowed, dismissed, webhookDeleted, next };
				});
			};
			const nothing = { isFollowed: false, dismissed: false, webhookDeleted: false, next: null };
			const retry = { replay: 0, dueAt: START + 30_000 };
			const pending = { ...nothing, id: second.id, next: retry };
			const followed = { ...nothing, id: first.id, isFollowed: true, next: retry };
			const success = { ...nothing, id: delivered.id };
			expect(await list()).toEqual([{ ...nothing, id: failed.id }, success, pending, followed]);
			expect(await list({ statuses: ["retrying"], webhookIds: [one] })).toEqual([pending, followed]);
			expect(await list({ eventId: event!.id, webhookIds: [other] })).toEqual([{ ...nothing, id: failed.id }]);
			for (const ofEvent of [{ eventId: event!.id }, { seqs: [1] }]) {
				expect(await list(ofEvent)).toEqual([{ ...nothing, id: failed.id }, pending, followed]);
				const untilSecond = { ...ofEvent, statuses: ["retrying" as const], until: START + 1 };
				expect(await list(untilSecond)).toEqual([followed]);
			}
			const ofOther = { projectId: project, webhookId: other };
			const deliveries = [{ webhookId: other, eventId: event!.id }];
			await world.storage.dismissDeliveries({ projectId: project, deliveries, at: START + 4 });
			expect((await list())[0]).toEqual({ ...nothing, id: failed.id, dismissed: true });
			await world.storage.replayDelivery({ ...ofOther, eventId: event!.id, at: START + 5 });
			expect((await list())[0]).toMatchObject({ isFollowed: false, next: { replay: 1, dueAt: START + 5 } });
			const again = await world.finish(lease, other, event!, "failed", { startedAt: START + 6, replay: 1 });
			expect(await list({ webhookIds: [other] })).toMatchObject([
				{ ...nothing, id: again.id },
				{ id: failed.id, isFollowed: true, next: null },
			]);
			await world.storage.deleteWebhook(ofOther);
			expect((await list())[0]).toEqual({ ...nothing, id: again.id, webhookDeleted: true });
		});

		test("a failed delivery is listed as followed, however much later it was replayed", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const [event] = await world.publish(project, "a");
			const days = [0, 1, 7, 20];
			const attempts = days.map((day, replay) => {
				return world.attempt(webhook, event!, { status: "failed", startedAt: START + day * DAY, replay });
			});
			await world.settle(await world.lease(project), { attempts });
			for (const [i, day] of days.entries()) {
				const times = { since: START + day * DAY, until: START + day * DAY + 1 };
				for (const filter of [times, { ...times, statuses: ["failed" as const], types: ["a"] }]) {
					const read = { projectId: project, filter, page: { limit: 10 } };
					const { rows } = await world.storage.listFollowedAttempts(read);
					expect(rows).toMatchObject([{ id: attempts[i]!.id, isFollowed: i < days.length - 1 }]);
				}
			}
		});

		test.for([2, 110])("a failed delivery is listed as followed after %i replays", async (replays) => {
			const project = await world.project();
			const [one, other] = [await world.webhook(project, ["a"]), await world.webhook(project, ["a"])];
			const events = await world.publish(project, "a", "a");
			const first = [one, other].flatMap((webhook) =>
				events.map((event) => world.attempt(webhook, event, { status: "failed", startedAt: START })),
			);
			const replayed = Array.from({ length: replays }, (_, i) =>
				world.attempt(one, events[1]!, { status: "failed", startedAt: START + 1 + i, replay: 1 + i }),
			);
			await world.settle(await world.lease(project), { attempts: [...first, ...replayed] });
			const list = async (filter: AttemptFilter) => {
				const read = { projectId: project, filter, page: { limit: 300 } };
				const { rows } = await world.storage.listFollowedAttempts(read);
				return rows.map(({ id, isFollowed }) => ({ id, isFollowed }));
			};
			const followed = (attempt: NewAttempt) =>
				attempt.webhookId === one && attempt.seq === 2 && attempt.replay < replays;
			const newestFirst = (attempts: NewAttempt[]) =>
				attempts
					.toSorted((a, b) => (a.id < b.id ? 1 : -1))
					.map((attempt) => ({ id: attempt.id, isFollowed: followed(attempt) }));
			const all = newestFirst([...first, ...replayed]);
			expect(await list({})).toEqual(all);
			expect(await list({ webhookIds: [one, other] })).toEqual(all);
			expect(await list({ seqs: [2, 1] })).toEqual(all);
			expect(await list({ until: START + 1 })).toEqual(newestFirst(first));
		});

		test("an event that was never sent to a webhook isn't a delivery", async () => {
			const [project, other] = [await world.project(), await world.project()];
			const [early] = await world.publish(project, "a");
			const webhook = await world.webhook(project, ["a"]);
			const [unwanted, skipped, later] = await world.publish(project, "b", "a", "a");
			const lease = await world.lease(project);
			await world.settle(lease, { lanes: [{ webhookId: webhook, position: 4, open: [] }] });
			const missing = { ...early!, id: world.id("event") };
			for (const event of [early!, unwanted!, skipped!, later!, missing]) {
				const replayed = await world.storage.replayDelivery({
					projectId: project,
					webhookId: webhook,
					eventId: event.id,
					at: START,
				});
				expect(replayed).toEqual({ kind: "no_delivery" });
				expect(
					await world.storage.getDelivery({ projectId: project, webhookId: webhook, eventId: event.id }),
				).toBeNull();
			}
			await world.finish(lease, webhook, skipped!, "delivered");
			expect(
				await world.storage.replayDelivery({ projectId: other, webhookId: webhook, eventId: skipped!.id, at: START }),
			).toEqual({ kind: "no_delivery" });
			await world.storage.deleteWebhook({ projectId: project, webhookId: webhook });
			expect(
				await world.storage.replayDelivery({ projectId: project, webhookId: webhook, eventId: skipped!.id, at: START }),
			).toEqual({ kind: "no_delivery" });
		});

		test("a test event is a delivery like any other: attempting, then finished, then replayed", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["b"]);
			const { createdAtGiven: _, ...sample } = world.event(project, "b");
			await world.storage.appendTestEvent({ projectId: project, webhookId: webhook, event: sample });
			const lease = await world.lease(project);
			expect(
				await world.storage.getDelivery({ projectId: project, webhookId: webhook, eventId: sample.id }),
			).toMatchObject({
				state: "attempting",
				attempt: 1,
				replay: 0,
			});
			await world.finish(lease, webhook, { seq: -1, type: "b" }, "failed");
			expect(
				(await world.storage.getDelivery({ projectId: project, webhookId: webhook, eventId: sample.id }))?.state,
			).toBe("dead_lettered");
			const replayed = await world.storage.replayDelivery({
				projectId: project,
				webhookId: webhook,
				eventId: sample.id,
				at: START,
			});
			expect(replayed).toEqual({ kind: "queued", replay: 1 });
		});

		test("dead letters are replayed in steps, oldest first, within the time range, none twice", async () => {
			const project = await world.project();
			const [webhook, other] = [await world.webhook(project, ["a", "b"]), await world.webhook(project, ["a"])];
			const events = await world.publish(project, "a", "b", "a", "b", "a", "a", "b");
			const lease = await world.lease(project);
			const startedAt = (i: number) => START + i * HOUR;
			const failed: NewAttempt[] = [];
			for (const [i, event] of events.entries()) {
				const status = i === 2 ? "delivered" : "failed";
				failed.push(await world.finish(lease, webhook, event, status, { startedAt: startedAt(i) }));
			}
			await world.finish(lease, other, events[0]!, "failed");
			// One is being replayed, another was replayed and delivered.
			await world.storage.replayDelivery({ projectId: project, webhookId: webhook, eventId: events[3]!.id, at: START });
			await world.storage.replayDelivery({ projectId: project, webhookId: webhook, eventId: events[4]!.id, at: START });
			await world.finish(lease, webhook, events[4]!, "delivered", { replay: 1, startedAt: startedAt(9) });

			const at = startedAt(10);
			const selection = { webhookIds: [webhook], statuses: ["failed" as const] };
			const bounded = { ...selection, since: startedAt(1), until: startedAt(6) };
			let count = 0;
			let after: string | undefined;
			for (let steps = 0; ; steps++) {
				expect(steps).toBeLessThan(10);
				const matching = { projectId: project, selection: bounded, at, limit: 2, after };
				const step = await world.storage.replayMatching(matching);
				expect(step.count).toBeLessThanOrEqual(2);
				count += step.count;
				if (step.next === null) break;
				after = step.next;
			}
			expect(count).toBe(2);
			const replays = await world.storage.readRetries({
				projectId: project,
				webhookId: webhook,
				queue: "replay",
				limit: 100,
			});
			expect(replays.map(({ seq, dueAt }) => [seq, dueAt])).toEqual([
				[2, at],
				[6, at],
			]);
			// A single requested replay isn't part of a bulk replay.
			const requested = await world.storage.readRetries({
				projectId: project,
				webhookId: webhook,
				queue: "requested",
				limit: 100,
			});
			expect(requested.map(({ seq, dueAt }) => [seq, dueAt])).toEqual([[4, START]]);
			const rest = { projectId: project, selection, at, limit: 100 };
			expect(await world.storage.replayMatching(rest)).toEqual({ count: 2, next: null });
			expect(await world.storage.replayMatching(rest)).toEqual({ count: 0, next: null });
			expect(await world.queues(project, other)).toEqual([]);
			expect(failed[0]!.replay).toBe(0);
		});

		test("a dismissed dead letter no longer counts, and only a single replay sends it again", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const events = await world.publish(project, "a", "a", "a");
			const lease = await world.lease(project);
			for (const event of events) await world.finish(lease, webhook, event, "failed", { startedAt: START - HOUR });
			const deadLetters = async () =>
				(await world.storage.readHealth({ projectId: project, since: START }))[0]!.deadLetters;
			const ids = events.map(({ id }) => id);
			const dismiss = (...eventIds: string[]) =>
				world.storage.dismissDeliveries({
					...{ projectId: project, at: START },
					deliveries: eventIds.map((eventId) => ({ webhookId: webhook, eventId })),
				});
			// One that is named twice counts once.
			expect(await dismiss(ids[0]!, ids[1]!, world.id("event"), ids[0]!)).toEqual([
				"dismissed",
				"dismissed",
				null,
				"dismissed",
			]);
			expect(await dismiss(ids[0]!)).toEqual(["already_dismissed"]);
			expect(await deadLetters()).toBe(1);
			const of = { projectId: project, webhookId: webhook };
			expect(await world.storage.getDelivery({ ...of, eventId: ids[0]! })).toMatchObject({ dismissed: true });
			expect(await world.storage.getDelivery({ ...of, eventId: ids[2]! })).toMatchObject({ dismissed: false });

			const selection = { statuses: ["failed" as const] };
			const matching = { projectId: project, selection, at: START, limit: 10 };
			expect((await world.storage.countMatching(matching)).count).toBe(1);
			expect((await world.storage.replayMatching(matching)).count).toBe(1);
			expect(await deadLetters()).toBe(0);
			expect((await world.storage.replayMatching(matching)).count).toBe(0);
			// One that is attempting again isn't a dead letter.
			expect(await dismiss(ids[2]!)).toEqual([null]);

			expect(await world.storage.replayDelivery({ ...of, eventId: ids[0]!, at: START })).toMatchObject({ replay: 1 });
			expect(await deadLetters()).toBe(0);
			await world.finish(lease, webhook, events[0]!, "failed", { replay: 1, startedAt: START - HOUR + 1 });
			expect(await deadLetters()).toBe(1);
			expect(await world.storage.getDelivery({ ...of, eventId: ids[0]! })).toMatchObject({ dismissed: false });
			expect(await dismiss(ids[0]!)).toEqual(["dismissed"]);

			// What retention deletes isn't subtracted again.
			for (let from: number | null = 0; from !== null; )
				from = (await world.storage.sweepAttempts({ cutoff: START, limit: 100, from })).next;
			await world.finish(lease, webhook, events[2]!, "failed", { replay: 1 });
			expect(await deadLetters()).toBe(1);
		});

		test("a failed test event isn't a dead letter, and replays by filter leave it out", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const { createdAtGiven: _, ...sample } = world.event(project, "a");
			await world.storage.appendTestEvent({ projectId: project, webhookId: webhook, event: sample });
			const [event] = await world.publish(project, "a");
			const lease = await world.lease(project);
			await world.finish(lease, webhook, { seq: -1, type: "a" }, "failed", { startedAt: START - HOUR });
			const of = { projectId: project, webhookId: webhook };
			const deadLetters = async () =>
				(await world.storage.readHealth({ projectId: project, since: START }))[0]!.deadLetters;
			expect(await deadLetters()).toBe(0);
			await world.finish(lease, webhook, event!, "failed", { startedAt: START - HOUR });
			expect(await deadLetters()).toBe(1);

			const matching = { projectId: project, selection: {}, at: START, limit: 10 };
			expect(await world.storage.countMatching(matching)).toMatchObject({
				...{ count: 1, groups: [{ webhookId: webhook, eventType: "a", count: 1 }] },
			});
			const deliveries = [{ webhookId: webhook, eventId: sample.id }];
			expect(await world.storage.dismissDeliveries({ projectId: project, deliveries, at: START })).toEqual([
				"dismissed",
			]);
			expect(await world.storage.replayDelivery({ ...of, eventId: sample.id, at: START })).toMatchObject({ replay: 1 });
			await world.finish(lease, webhook, { seq: -1, type: "a" }, "failed", { replay: 1, startedAt: START - HOUR });
			expect(await world.storage.replayDelivery({ ...of, eventId: sample.id, at: START })).toMatchObject({ replay: 2 });
			await world.finish(lease, webhook, { seq: -1, type: "a" }, "failed", { replay: 2, startedAt: START - HOUR });
			expect(await deadLetters()).toBe(1);
			for (let from: number | null = 0; from !== null; )
				from = (await world.storage.sweepAttempts({ cutoff: START, limit: 100, from })).next;
			expect(await deadLetters()).toBe(0);
			await world.finish(lease, webhook, event!, "failed", { replay: 1 });
			expect(await deadLetters()).toBe(1);
			expect((await world.storage.replayMatching({ ...matching, at: START + HOUR })).count).toBe(1);
		});

		test("a step is limited, and takes the oldest first", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const events = await world.publish(project, "a", "a", "a");
			const lease = await world.lease(project);
			// The second event failed first.
			for (const [i, at] of [1, 0, 2].entries())
				await world.finish(lease, webhook, events[i]!, "failed", { startedAt: START + at * HOUR });
			const selection = { webhookIds: [webhook], statuses: ["failed" as const] };
			const step = await world.storage.replayMatching({
				projectId: project,
				selection,
				at: START + 9 * HOUR,
				limit: 1,
			});
			expect(step.count).toBe(1);
			expect((await world.queues(project, webhook)).map(({ seq }) => seq)).toEqual([2]);
			expect(step.next).not.toBeNull();
		});
	});
}
