import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { HandedOver, Lease, Settlement } from "../../../src/storage/port.ts";
import type { StorageHarness } from "./harness.ts";
import { ALL, START, World } from "./world.ts";

const UNTIL = START + 20_000;

/** Attempts that are in flight when a lease is released. */
export function describeHandover(harness: StorageHarness): void {
	describe("attempts that outlive their lease", () => {
		let world: World;
		let project: string;
		let webhook: string;
		beforeEach(async () => {
			world = await World.open(harness);
			project = await world.project();
			webhook = await world.webhook(project, ["a"], { maxInFlight: 2 });
			await world.publish(project, "a", "a", "a");
		});
		afterEach(() => world.dispose());

		/** A node with 1 in flight and 2 settled releases the project. */
		async function release(...inFlight: HandedOver[]): Promise<Lease> {
			const lease = await world.lease(project);
			const lanes = [{ webhookId: webhook, position: 2, open: [1] }];
			const attempts = [world.attempt(webhook, { seq: 2, type: "a" })];
			expect(await world.settle(lease, { attempts, lanes })).toBe("settled");
			const { seen } = await world.storage.loadLanes({ projectId: project });
			await world.storage.releaseLease({ lease, wakeAt: UNTIL, seen, inFlight });
			return lease;
		}

		const first = (): HandedOver => ({ webhookId: webhook, seq: 1, replay: 0, queue: null, until: UNTIL });

		const outcome = ({ generation }: Lease, about: Partial<Settlement> = {}): Settlement => ({
			...{ projectId: project, generation, schedule: [], unschedule: [] },
			attempts: [world.attempt(webhook, { seq: 1, type: "a" })],
			lanes: [{ webhookId: webhook, position: 2, open: [] }],
			...about,
		});

		const logged = async (): Promise<number[]> =>
			(await world.storage.listAttempts({ projectId: project, filter: {}, page: ALL })).rows
				.map(({ seq }) => seq)
				.sort();

		test("the next owner finds them, and the previous one settles each once", async () => {
			const lease = await release(first());
			const next = await world.lease(project, "node_b");
			const before = await world.storage.loadLanes({ projectId: project });
			expect(before.handedOver).toEqual([first()]);
			expect(before.lanes).toMatchObject([{ position: 2, open: [1] }]);
			// It is still open in what the next holder commits meanwhile.
			const lanes = [{ webhookId: webhook, position: 3, open: [1] }];
			expect(await world.settle(next, { attempts: [world.attempt(webhook, { seq: 3, type: "a" })], lanes })).toBe(
				"settled",
			);
			const settlement = outcome(lease);
			expect(await world.storage.settleHandedOver({ handedOver: first(), settlement })).toBe("settled");
			const after = await world.storage.loadLanes({ projectId: project });
			expect(after.handedOver).toEqual([]);
			expect(after.lanes).toMatchObject([{ position: 3, open: [] }]);
			expect(after.seen.revision).toBeGreaterThan(before.seen.revision);
			expect(await world.settle(next, { lanes })).toBe("settled");
			expect(await world.lane(project, webhook)).toMatchObject({ position: 3, open: [] });
			const again = { ...settlement, attempts: [world.attempt(webhook, { seq: 1, type: "a" })] };
			expect(await world.storage.settleHandedOver({ handedOver: first(), settlement: again })).toBe("stale");
			expect(await logged()).toEqual([1, 2, 3]);
		});

		test("a failed one waits for its next attempt, and a project without an owner is woken", async () => {
			const lease = await release(first());
			expect(await world.storage.nextAlarm()).toBe(UNTIL);
			const retry = {
				webhookId: webhook,
				seq: 1,
				queue: "retry",
				replay: 0,
				attempt: 2,
				dueAt: START + 30_000,
			} as const;
			const attempts = [
				world.attempt(webhook, { seq: 1, type: "a" }, { status: "retrying", nextRetryAt: START + 30_000 }),
			];
			const settlement = outcome(lease, { attempts, schedule: [retry] });
			expect(await world.storage.settleHandedOver({ handedOver: first(), settlement })).toBe("settled");
			expect(await world.queues(project, webhook)).toEqual([retry]);
			expect(await world.storage.nextAlarm()).toBeLessThanOrEqual(START);
		});

		test("one that wasn't made after all is returned", async () => {
			const lease = await release(first());
			const nothing = outcome(lease, { attempts: [], lanes: [] });
			expect(await world.storage.settleHandedOver({ handedOver: first(), settlement: nothing })).toBe("settled");
			expect(await world.storage.loadLanes({ projectId: project })).toMatchObject({
				handedOver: [],
				lanes: [{ open: [1] }],
			});
			expect(await world.storage.settleHandedOver({ handedOver: first(), settlement: nothing })).toBe("stale");
		});

		test("nothing else of an earlier lease is settled", async () => {
			const lease = await release(first());
			const next = await world.lease(project, "node_b");
			expect(await world.settle(lease, outcome(lease))).toBe("stale");
			const other = { ...first(), seq: 3 };
			const attempts = [world.attempt(webhook, { seq: 3, type: "a" })];
			expect(
				await world.storage.settleHandedOver({ handedOver: other, settlement: outcome(lease, { attempts }) }),
			).toBe("stale");
			expect(await world.storage.settleHandedOver({ handedOver: first(), settlement: outcome(next) })).toBe("stale");
			expect(
				await world.storage.settleHandedOver({ handedOver: { ...first(), replay: 1 }, settlement: outcome(lease) }),
			).toBe("stale");
			expect(await logged()).toEqual([2]);
			expect((await world.storage.loadLanes({ projectId: project })).handedOver).toEqual([first()]);
		});

		test("it is dropped only after its deadline, and then refused", async () => {
			const lease = await release(first());
			world.clock.time = UNTIL - 1;
			await world.storage.forgetHandedOver({ projectId: project });
			expect((await world.storage.loadLanes({ projectId: project })).handedOver).toEqual([first()]);
			world.clock.time = UNTIL;
			await world.storage.forgetHandedOver({ projectId: project });
			expect((await world.storage.loadLanes({ projectId: project })).handedOver).toEqual([]);
			expect(await world.storage.settleHandedOver({ handedOver: first(), settlement: outcome(lease) })).toBe("stale");
			expect(await world.lane(project, webhook)).toMatchObject({ position: 2, open: [1] });
			expect(await logged()).toEqual([2]);
		});

		test("one that was dropped and repeated by the next owner is only handed over by that owner", async () => {
			const late = await release(first());
			world.clock.time = UNTIL;
			await world.storage.forgetHandedOver({ projectId: project });
			const next = await world.lease(project, "node_b");
			const again = { ...first(), until: UNTIL + 20_000 };
			await world.storage.releaseLease({
				lease: next,
				wakeAt: null,
				seen: (await world.storage.loadLanes({ projectId: project })).seen,
				inFlight: [again],
			});
			expect(await world.storage.settleHandedOver({ handedOver: first(), settlement: outcome(late) })).toBe("stale");
			expect((await world.storage.loadLanes({ projectId: project })).handedOver).toEqual([again]);
			expect(await world.storage.settleHandedOver({ handedOver: again, settlement: outcome(next) })).toBe("settled");
		});

		test("those of several owners coexist; a lost lease hands nothing over", async () => {
			const lease = await release(first());
			const second = await world.lease(project, "node_b");
			const retry: HandedOver = { webhookId: webhook, seq: 2, replay: 1, queue: "replay", until: UNTIL };
			await world.storage.releaseLease({
				lease: second,
				wakeAt: null,
				seen: (await world.storage.loadLanes({ projectId: project })).seen,
				inFlight: [retry],
			});
			const third = await world.lease(project, "node_c");
			await world.storage.releaseLease({
				lease: second,
				wakeAt: null,
				seen: { lastSeq: 3, revision: 0 },
				inFlight: [{ ...retry, seq: 3 }],
			});
			expect((await world.storage.loadLanes({ projectId: project })).handedOver).toEqual([first(), retry]);
			expect(await world.storage.settleHandedOver({ handedOver: first(), settlement: outcome(lease) })).toBe("settled");
			const attempts = [world.attempt(webhook, { seq: 2, type: "a" }, { replay: 1 })];
			const replayed = outcome(second, { attempts, unschedule: [{ webhookId: webhook, seq: 2 }], lanes: [] });
			expect(await world.storage.settleHandedOver({ handedOver: retry, settlement: replayed })).toBe("settled");
			expect((await world.storage.loadLanes({ projectId: project })).handedOver).toEqual([]);
			expect(await world.settle(third, {})).toBe("settled");
		});

		test("one of a webhook that was deleted in the meantime is logged, and what follows it waits to be closed", async () => {
			const lease = await release(first());
			await world.storage.deleteWebhook({ projectId: project, webhookId: webhook });
			const retry = { webhookId: webhook, seq: 1, queue: "retry", replay: 0, attempt: 2, dueAt: START } as const;
			expect(
				await world.storage.settleHandedOver({
					handedOver: first(),
					settlement: outcome(lease, { schedule: [retry] }),
				}),
			).toBe("settled");
			expect(await world.queues(project, webhook)).toEqual([retry]);
			const { lanes } = await world.storage.loadLanes({ projectId: project });
			expect(lanes).toMatchObject([{ webhookId: webhook, status: "deleted" }]);
			expect(await logged()).toEqual([1, 2]);
		});
	});
}
