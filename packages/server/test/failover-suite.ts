/**
 * An engine that stays alive while a standby replaces the primary, with all of its commits or without the last ones.
 */
import { patience } from "@posthorn/testkit/until";
import { describe, expect, test } from "vitest";
import type { Clock } from "../src/base/clock.ts";
import { QUARANTINE, type Storage, StorageError } from "../src/storage/port.ts";
import { ALL_TYPES, EngineRig, LEASE_TERM_MS } from "./engine-rig.ts";
import { FaultyStorage } from "./faulty-storage.ts";

/** A primary with a standby that follows it, and the database on both. */
export interface Pair extends AsyncDisposable {
	/** A node that connects to whichever of them accepts writes. */
	open(clock: Clock): Promise<Storage>;
	/** Resolves once the standby has every commit. */
	caughtUp(): Promise<void>;
	/** Stops replication to the standby. */
	cutOff(): Promise<void>;
	/** Promotes the standby. */
	fail(): Promise<void>;
	/** Publishes directly, as a store does, to whichever of them accepts writes; returns the events' ids. */
	publish(projectId: string, count: number, type: string): Promise<string[]>;
}

/** An engine on such a pair, and a webhook of each width. */
async function setUp(openPair: () => Promise<Pair>, events: readonly string[] = ALL_TYPES) {
	await using made = new AsyncDisposableStack();
	const pair = made.use(await openPair());
	const storage = new FaultyStorage();
	const database = { open: (clock: Clock) => pair.open(clock), remove: async () => undefined };
	const rig = made.use(await EngineRig.start(database, storage.wrap));
	const hook = await rig.webhook("a", { events });
	const wide = await rig.webhook("b", { events, maxInFlight: 4 });
	// The revision that a project applies is announced to other nodes once a second.
	await storage.pass(rig.clock, 1_500);
	const resources = made.move();
	return {
		...{ rig, storage, pair, hook, wide },
		/** Publishes this many events, one by one, as soon as the database accepts them. */
		async publish(count: number): Promise<string[]> {
			const ids: string[] = [];
			const stillInTime = patience(`${count} events to be accepted`);
			while (ids.length < count) {
				stillInTime();
				try {
					ids.push(...(await rig.publish(1)));
				} catch (error) {
					if (!(error instanceof StorageError)) throw error;
					// The database is away, or turned out to be another one.
					await storage.pass(rig.clock, 100);
				}
			}
			return ids;
		},
		async settled(count: number): Promise<void> {
			const stillInTime = patience(`${count} attempts to be settled`);
			while (rig.settled.length < count) {
				stillInTime();
				await storage.pass(rig.clock, 1_000);
			}
		},
		/** The attempts of an event in a webhook's log, as stored in the database. */
		async attempts(eventId: string, webhookId: string): Promise<unknown[]> {
			const delivery = await rig.storage.getDelivery({ projectId: rig.projectId, webhookId, eventId });
			return delivery!.attempts.map(({ attempt, status }) => [attempt, status]);
		},
		[Symbol.asyncDispose]: () => resources.disposeAsync(),
	};
}

export function describeFailover(database: string, openPair: () => Promise<Pair>): void {
	describe(`a standby of ${database} is promoted`, () => {
		// Of thirty events acknowledged after a promotion, the first twenty were once neither sent nor dead-lettered: the
		// engine had already seen their numbers.
		test("without the last events: later acknowledged events are sent once and in order", async () => {
			await using site = await setUp(openPair);
			const { rig, hook, wide } = site;
			const before = await rig.publish(5);
			await rig.settledCount(10);
			await site.pair.caughtUp();
			await site.pair.cutOff();
			const lost = await rig.publish(20);
			await rig.settledCount(50);
			await site.pair.fail();
			const after = await site.publish(30);
			await site.settled(110);
			expect(rig.sender.to(hook.url)).toEqual([...before, ...lost, ...after]);
			expect(new Set(rig.sender.to(wide.url))).toEqual(new Set([...before, ...lost, ...after]));
			expect(rig.sender.sent).toHaveLength(110);
		});

		test("a project with lost events, whose lease wasn't trusted any longer, waits until no other node may run it", async () => {
			await using site = await setUp(openPair);
			const { rig, storage } = site;
			await site.pair.caughtUp();
			await site.pair.cutOff();
			await rig.publish(1);
			await rig.settledCount(2);
			storage.fail("renewLeases", Number.POSITIVE_INFINITY);
			await storage.pass(rig.clock, 9_000);
			storage.fail("renewLeases", 0);
			await site.pair.fail();
			await site.publish(1);
			await storage.pass(rig.clock, LEASE_TERM_MS / 2);
			expect(rig.sender.sent).toHaveLength(2);
			await site.settled(4);
		});

		// A project of which nothing was lost was kept, and continued.
		test("in quarantine, as an earlier state that was restored: nothing is sent", async () => {
			await using site = await setUp(openPair);
			const { rig, storage } = site;
			await rig.publish(5);
			await rig.settledCount(10);
			await storage.quiet();
			await rig.storage.setSetting({ name: QUARANTINE, value: JSON.stringify({ since: 1, backupAt: null }) });
			await site.pair.caughtUp();
			await site.pair.fail();
			await site.publish(5);
			await storage.pass(rig.clock, 2 * LEASE_TERM_MS);
			expect(rig.sender.sent).toHaveLength(10);
			await rig.storage.endQuarantine();
			await site.settled(20);
			expect(rig.sender.sent).toHaveLength(20);
		});

		// Once, all of them were repeated, no matter how many there were.
		test.for([
			["while the lease is trusted", 0],
			["after the lease was trusted", 9_000],
		] as const)(
			"with all commits, %s: uncommitted outcomes are committed, and nothing is sent again",
			async ([, waitMs]) => {
				await using site = await setUp(openPair);
				const { rig, storage, hook, wide } = site;
				const [failing] = await rig.publish(1);
				await rig.settledCount(2);
				await rig.sentCount(2);
				rig.sender.script = ({ eventId }, nth) => (nth === 3 && eventId !== failing ? 500 : 200);
				const before = await rig.publish(1);
				await rig.settledCount(4);
				storage.fail("settle", Number.POSITIVE_INFINITY);
				const unsettled = await rig.publish(20);
				await rig.sentCount(44);
				await site.pair.caughtUp();
				await storage.pass(rig.clock, waitMs);
				await site.pair.fail();
				storage.fail("settle", 0);
				const after = await site.publish(10);
				// The retry of the failed first attempt comes as well.
				await site.settled(65);
				expect(rig.sender.sent).toHaveLength(65);
				const all = [failing!, ...before, ...unsettled, ...after];
				expect([...new Set(rig.sender.to(hook.url))]).toEqual(all);
				expect(new Set(rig.sender.to(wide.url))).toEqual(new Set(all));
				const retried = rig.settled.filter(({ attempt }) => attempt === 2);
				expect(retried).toHaveLength(1);
				expect(await site.attempts(retried[0]!.eventId, retried[0]!.webhookId)).toEqual([
					[1, "retrying"],
					[2, "delivered"],
				]);
			},
		);

		test("with the events but not their outcomes: losing a retry loses no event", async () => {
			await using site = await setUp(openPair);
			const { rig, storage, hook } = site;
			storage.fail("settle", Number.POSITIVE_INFINITY);
			rig.sender.script = (_, nth) => (nth <= 2 ? 500 : 200);
			const [first] = await rig.publish(1);
			await rig.sentCount(2);
			await site.pair.caughtUp();
			await site.pair.cutOff();
			storage.fail("settle", 0);
			const stillInTime = patience("both attempts to be settled");
			while (rig.settled.length < 2) {
				stillInTime();
				await storage.pass(rig.clock, 100);
			}
			expect(rig.settled.map(({ status }) => status)).toEqual(["retrying", "retrying"]);
			await site.pair.fail();
			const after = await site.publish(5);
			// Two attempts of the first event are lost, and repeated.
			await site.settled(2 + 2 * 6);
			expect([...new Set(rig.sender.to(hook.url))]).toEqual([first, ...after]);
			expect(await site.attempts(first!, hook.id)).toEqual([[1, "delivered"]]);
		});

		test("a store publishes events with the numbers of lost ones: they are sent, and don't get the lost ones' outcomes", async () => {
			await using site = await setUp(openPair);
			const { rig, storage, hook } = site;
			const before = await rig.publish(2);
			await rig.settledCount(4);
			await site.pair.caughtUp();
			await site.pair.cutOff();
			storage.fail("settle", Number.POSITIVE_INFINITY);
			const lost = await rig.publish(3);
			await rig.sentCount(10);
			await site.pair.fail();
			const stored = await site.pair.publish(rig.projectId, 5, "delivery.success");
			storage.fail("settle", 0);
			const after = await site.publish(1);
			await site.settled(4 + 2 * 6);
			expect(rig.sender.to(hook.url)).toEqual([...before, ...lost, ...stored, ...after]);
			for (const id of [...stored, ...after]) expect(await site.attempts(id, hook.id)).toEqual([[1, "delivered"]]);
		});

		test("a store publishes events with the numbers of lost ones that no webhook wanted: they are sent", async () => {
			await using site = await setUp(openPair, ["delivery.success"]);
			const { rig, storage, hook } = site;
			const before = await rig.publish(2);
			await rig.settledCount(4);
			await site.pair.caughtUp();
			await site.pair.cutOff();
			await site.pair.publish(rig.projectId, 3, "delivery.failed");
			// The node learns of their numbers, and skips them.
			await storage.pass(rig.clock, 3_000);
			await site.pair.fail();
			const stored = await site.pair.publish(rig.projectId, 5, "delivery.success");
			const after = await site.publish(1);
			await site.settled(4 + 2 * 6);
			expect(rig.sender.to(hook.url)).toEqual([...before, ...stored, ...after]);
		});

		// An owner once got a new signing secret that was lost while the call waited for the lanes to load it.
		test("without a change that is still waiting to be in force: the change fails", async () => {
			await using site = await setUp(openPair);
			const { rig, storage, hook } = site;
			const { projectId } = rig;
			await site.pair.caughtUp();
			await site.pair.cutOff();
			using load = storage.holdCall("loadLanes");
			const paused = { projectId, webhookId: hook.id, patch: { status: "paused" as const } };
			let failure: unknown = null;
			const changed = rig.engine
				.change(
					projectId,
					() => rig.storage.updateWebhook(paused),
					() => "project",
				)
				.catch((error: unknown) => {
					failure = error;
				})
				.then(() => true);
			await load.reached;
			await site.pair.fail();
			load.release();
			const stillInTime = patience("the change to end");
			while (!(await Promise.race([changed, storage.pass(rig.clock, 100).then(() => false)]))) stillInTime();
			expect(failure).toBeInstanceOf(StorageError);
			const [event] = await site.publish(1);
			await site.settled(2);
			expect(rig.sender.to(hook.url)).toEqual([event]);
		});

		test("after the lease was trusted: nothing is sent until no other node can use a lost lease", async () => {
			await using site = await setUp(openPair);
			const { rig, storage, hook } = site;
			const before = await rig.publish(1);
			await rig.settledCount(2);
			await site.pair.caughtUp();
			storage.away = true;
			await storage.pass(rig.clock, 9_000);
			await site.pair.fail();
			storage.away = false;
			const [after] = await site.publish(1);
			const begun = rig.clock.now();
			await site.settled(4);
			expect(rig.sender.to(hook.url)).toEqual([...before, after]);
			const sent = rig.sender.sent.filter(({ eventId }) => eventId === after);
			for (const { at } of sent) expect(at - begun).toBeGreaterThan(LEASE_TERM_MS - 1_000);
			expect(sent).toHaveLength(2);
		});
	});
}
