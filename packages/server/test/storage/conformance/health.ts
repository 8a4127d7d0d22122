import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AttemptStatus, WebhookHealth } from "../../../src/storage/port.ts";
import type { StorageHarness } from "./harness.ts";
import { START, World } from "./world.ts";

const MINUTE = 60_000;

export function describeHealth(harness: StorageHarness): void {
	describe("health", () => {
		let world: World;
		beforeAll(async () => {
			world = await World.open(harness);
		});
		afterAll(() => world.dispose());

		const nothing = {
			lastAttempt: null,
			failingSince: null,
			failedInARow: 0,
			recent: { delivered: 0, failed: 0 },
			lastDeliveredAt: null,
			waiting: { count: 0, tests: 0, nextAt: null },
			deadLetters: 0,
		};

		test("any history of attempts shows the last one, the last delivered one, and since when it fails", async () => {
			const project = await world.project();
			const lease = await world.lease(project);
			const [D, R, F] = ["delivered", "retrying", "failed"] as const;
			/** Attempts by minute, and which of them is the first one after the last success. */
			const courses: [AttemptStatus[], number | null, number | null][] = [
				[[], null, null],
				[[D], null, 0],
				[[R, R, F], 0, null],
				[[D, F, R, D], null, 3],
				[[F, D, R, F, R], 2, 1],
				[[D, D, F], 2, 1],
			];
			const wanted: WebhookHealth[] = [];
			for (const [statuses, failingSince, lastDelivered] of courses) {
				const webhook = await world.webhook(project, ["a", "b"]);
				const events = await world.publish(project, ...statuses.map((_, i) => (i % 2 === 0 ? "a" : "b")));
				for (const [i, event] of events.entries())
					await world.finish(lease, webhook, event, statuses[i]!, { startedAt: START + i * MINUTE });
				const { rows } = await world.storage.listAttemptSummaries({
					projectId: project,
					filter: { webhookIds: [webhook] },
					page: { limit: 10 },
				});
				rows.reverse();
				expect(rows.map(({ status }) => status)).toEqual(statuses);
				wanted.push({
					...nothing,
					webhookId: webhook,
					lastAttempt: rows.at(-1) ?? null,
					failingSince: failingSince === null ? null : rows[failingSince]!,
					failedInARow: failingSince === null ? 0 : statuses.length - failingSince,
					recent: {
						delivered: statuses.filter((status) => status === D).length,
						failed: statuses.filter((status) => status !== D).length,
					},
					lastDeliveredAt: lastDelivered === null ? null : START + lastDelivered * MINUTE,
					deadLetters: statuses.filter((status) => status === F).length,
				});
			}
			expect(await world.storage.readHealth({ projectId: project, since: START })).toEqual(wanted);
			const [one, other] = [wanted[2]!, wanted[0]!];
			const webhookIds = [one.webhookId, other.webhookId, one.webhookId, "wh_none"];
			expect(await world.storage.readHealth({ projectId: project, since: START, webhookIds })).toEqual([other, one]);
			expect(await world.storage.readHealth({ projectId: project, since: START, webhookIds: [] })).toEqual([]);
		});

		test("attempts of test events are left out, except for when the last one was delivered", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const lease = await world.lease(project);
			let minute = 0;
			let tests = 0;
			const finish = async (event: { seq: number; type: string }, status: AttemptStatus, count = 1) => {
				const attempts = Array.from({ length: count }, (_, i) =>
					world.attempt(webhook, event, { attempt: i + 1, status, startedAt: START + minute++ * MINUTE }),
				);
				expect(await world.settle(lease, { attempts })).toBe("settled");
				return attempts.at(-1)!.id;
			};
			const testEvent = (status: AttemptStatus, count = 1) => finish({ seq: --tests, type: "a" }, status, count);
			const read = async () => {
				const [health] = await world.storage.readHealth({ projectId: project, since: START });
				return {
					last: health!.lastAttempt?.id ?? null,
					failing: health!.failingSince?.id ?? null,
					delivered: health!.lastDeliveredAt,
					row: health!.failedInARow,
				};
			};
			for (let i = 0; i < 3; i++) {
				const { createdAtGiven: _, ...sample } = world.event(project, "a");
				expect(await world.storage.appendTestEvent({ projectId: project, webhookId: webhook, event: sample })).toBe(
					"queued",
				);
			}
			await testEvent("failed");
			expect(await read()).toEqual({ last: null, failing: null, delivered: null, row: 0 });
			const [first, second] = await world.publish(project, "a", "a");
			const failed = await finish(first!, "failed");
			expect(await read()).toEqual({ last: failed, failing: failed, delivered: null, row: 1 });
			// More tests than one scan skips.
			await testEvent("failed", 1_100);
			expect(await read()).toEqual({ last: failed, failing: failed, delivered: null, row: 1 });
			const at = START + minute * MINUTE;
			await testEvent("delivered");
			expect(await read()).toEqual({ last: failed, failing: failed, delivered: at, row: 1 });
			const again = await finish(second!, "retrying");
			expect(await read()).toEqual({ last: again, failing: failed, delivered: at, row: 2 });
			const [health] = await world.storage.readHealth({ projectId: project, since: START });
			expect(health!.recent).toEqual({ delivered: 0, failed: 2 });
		});

		// They hid what happened after the clock was set back: a webhook stayed failing for a year.
		test("attempts that start at a bound or later are left out, whatever came after them", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a", "b"]);
			const lease = await world.lease(project);
			const events = await world.publish(project, "a", "b", "a", "b", "a");
			const until = START + 10 * MINUTE;
			const finish = (nth: number, status: AttemptStatus, startedAt: number) =>
				world.finish(lease, webhook, events[nth]!, status, { startedAt });
			const read = async (to?: number) => {
				const end = to === undefined ? {} : { until: to };
				const [health] = await world.storage.readHealth({ projectId: project, since: START, ...end });
				const { lastAttempt, failingSince, failedInARow, recent, lastDeliveredAt } = health!;
				const [last, failing] = [lastAttempt?.startedAt, failingSince?.startedAt];
				return { last, failing, failedInARow, recent, lastDeliveredAt };
			};
			await finish(0, "failed", until);
			await finish(1, "delivered", until + 1);
			await finish(2, "failed", until + 400 * 24 * 60 * MINUTE);
			const none = { last: undefined, failing: undefined, failedInARow: 0, lastDeliveredAt: null };
			expect(await read(until)).toEqual({ ...none, recent: { delivered: 0, failed: 0 } });
			await finish(3, "failed", until - 2);
			const first = { last: until - 2, failing: until - 2, failedInARow: 1, lastDeliveredAt: null };
			expect(await read(until)).toEqual({ ...first, recent: { delivered: 0, failed: 1 } });
			await finish(4, "delivered", until - 1);
			const second = { last: until - 1, failing: undefined, failedInARow: 0, lastDeliveredAt: until - 1 };
			expect(await read(until)).toEqual({ ...second, recent: { delivered: 1, failed: 1 } });
			// One minute more has two more.
			expect(await read(until + MINUTE)).toEqual({
				...{ last: until + 1, failing: undefined, failedInARow: 0, lastDeliveredAt: until + 1 },
				recent: { delivered: 2, failed: 2 },
			});
			const all = await read();
			expect(all).toMatchObject({ failedInARow: 1, recent: { delivered: 2, failed: 3 } });
			expect(all.last).toBe(all.failing);
		});

		test("deliveries that were closed without a request are left out", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a", "b"]);
			const lease = await world.lease(project);
			const events = await world.publish(project, "a", "b", "a", "b", "a", "b", "a");
			const closed = (errorCode: string) => ({ errorCode, statusCode: null, sent: null });
			const finish = (nth: number, status: AttemptStatus, about: object = {}) =>
				world.finish(lease, webhook, events[nth]!, status, { startedAt: START + nth * MINUTE, ...about });
			const read = async () => {
				const [health] = await world.storage.readHealth({ projectId: project, since: START });
				const { lastAttempt, failingSince, failedInARow, recent } = health!;
				return { last: lastAttempt?.id, failing: failingSince?.id, row: failedInARow, recent };
			};
			await finish(0, "failed", closed("expired"));
			expect(await read()).toEqual({
				...{ last: undefined, failing: undefined, row: 0 },
				recent: { delivered: 0, failed: 0 },
			});
			const { id } = await finish(1, "delivered");
			for (const [i, reason] of ["unsubscribed", "skipped", "deleted"].entries())
				await finish(2 + i, "failed", closed(reason));
			expect(await read()).toEqual({ last: id, failing: undefined, row: 0, recent: { delivered: 1, failed: 0 } });
			// No connection is an attempt like any other.
			const refused = await finish(5, "retrying", closed("connection_refused"));
			expect(await read()).toEqual({
				...{ last: refused.id, failing: refused.id, row: 1 },
				recent: { delivered: 1, failed: 1 },
			});
		});

		test("counts failures in a row up to ten, and recent attempts from a minute on, rolled up or not", async () => {
			const project = await world.project();
			const [webhook, other] = [await world.webhook(project, ["a"]), await world.webhook(project, ["a"])];
			const [event] = await world.publish(project, "a");
			const lease = await world.lease(project);
			let attempt = 0;
			const log = (count: number, minute: number, status: AttemptStatus, to = webhook) =>
				world.settle(lease, {
					attempts: Array.from({ length: count }, () =>
						world.attempt(to, event!, { attempt: ++attempt, status, startedAt: START + minute * MINUTE }),
					),
				});
			const read = async (minute: number) => {
				const [health] = await world.storage.readHealth({ projectId: project, since: START + minute * MINUTE });
				return [health!.failedInARow, health!.recent.delivered, health!.recent.failed];
			};
			await log(2, 0, "delivered");
			await log(9, 1, "retrying");
			expect([await read(0), await read(1), await read(2)]).toEqual([
				[9, 2, 9],
				[9, 0, 9],
				[9, 0, 0],
			]);
			await log(2, 2, "failed");
			await log(5, 2, "failed", other);
			expect([await read(0), await read(2)]).toEqual([
				[10, 2, 11],
				[10, 0, 2],
			]);
			await log(2_100, 3, "delivered");
			await log(3, 4, "retrying");
			expect([await read(0), await read(3), await read(5)]).toEqual([
				[3, 2_102, 14],
				[3, 2_100, 3],
				[3, 0, 0],
			]);
		});

		test("pending attempts are counted with the next due time, without deleted webhooks and other projects", async () => {
			const [project, other] = [await world.project(), await world.project()];
			const [webhook, gone] = [await world.webhook(project, ["a"]), await world.webhook(project, ["a"])];
			const foreign = await world.webhook(other, ["a"]);
			const events = await world.publish(project, "a", "a", "a");
			const lease = await world.lease(project);
			const schedule = [5, 3].map((minutes, i) => ({
				...{ webhookId: webhook, seq: i + 1, queue: "retry" as const, replay: 0, attempt: 2 },
				dueAt: START + minutes * MINUTE,
			}));
			await world.settle(lease, { schedule });
			const waiting = async () => (await world.storage.readHealth({ projectId: project, since: START }))[0]!.waiting;
			expect(await waiting()).toEqual({ count: 2, tests: 0, nextAt: START + 3 * MINUTE });
			await world.finish(lease, webhook, events[2]!, "failed");
			expect((await world.storage.readHealth({ projectId: project, since: START }))[0]!.deadLetters).toBe(1);
			await world.storage.replayDelivery({
				projectId: project,
				webhookId: webhook,
				eventId: events[2]!.id,
				at: START + MINUTE,
			});
			expect(await waiting()).toEqual({ count: 3, tests: 0, nextAt: START + MINUTE });
			const { createdAtGiven: _, ...sample } = world.event(project, "a");
			await world.storage.appendTestEvent({ projectId: project, webhookId: webhook, event: sample });
			expect(await waiting()).toMatchObject({ count: 4, tests: 1 });
			const [quiet] = await world.storage.readHealth({ projectId: project, since: START, webhookIds: [gone] });
			expect(quiet!.waiting).toEqual({ count: 0, tests: 0, nextAt: null });
			expect((await world.storage.readHealth({ projectId: project, since: START }))[0]!.deadLetters).toBe(0);
			await world.storage.deleteWebhook({ projectId: project, webhookId: gone });
			expect(
				(await world.storage.readHealth({ projectId: project, since: START })).map(({ webhookId }) => webhookId),
			).toEqual([webhook]);
			expect(await world.storage.readHealth({ projectId: other, since: START })).toEqual([
				{ ...nothing, webhookId: foreign },
			]);
			expect(await world.storage.readHealth({ projectId: world.id("project"), since: START })).toEqual([]);
		});
	});
}
