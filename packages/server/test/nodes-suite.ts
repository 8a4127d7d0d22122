/** Two engines on one database and one virtual clock. */
import { patience } from "@posthorn/testkit/until";
import { describe, expect, test } from "vitest";
import { silentLogger } from "../src/base/logger.ts";
import { startEngine } from "../src/engine/index.ts";
import type { FailureReason } from "../src/net/errors.ts";
import type { Storage } from "../src/storage/port.ts";
import { diskClock } from "./disk-clock.ts";
import {
	ATTEMPT_TIMEOUT_MS,
	DAY_MS,
	EngineRig,
	LEASE_TERM_MS,
	type RigDatabase,
	ScriptedSender,
	type Settled,
	SPEC_DELAYS_MS,
} from "./engine-rig.ts";
import { FaultyStorage } from "./faulty-storage.ts";

/** Another node alongside the rig's. */
class Peer {
	readonly sender: ScriptedSender;
	readonly settled: Settled[] = [];
	readonly engine: ReturnType<typeof startEngine>;
	readonly storage: Awaited<ReturnType<RigDatabase["open"]>>;

	constructor(rig: EngineRig, storage: Awaited<ReturnType<RigDatabase["open"]>>) {
		this.sender = new ScriptedSender(rig.clock);
		this.storage = storage;
		this.engine = startEngine({
			storage,
			sender: this.sender,
			clock: rig.clock,
			disk: diskClock,
			ids: rig.ids,
			seal: rig.seal,
			logger: silentLogger,
			leaseTermMs: LEASE_TERM_MS,
			retryDelaysMs: SPEC_DELAYS_MS,
			attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
			observer: {
				attempted: (_projectId, eventId, attempt) => this.settled.push({ ...attempt, eventId }),
			},
			retentionMs: 30 * DAY_MS,
			maxEventBytes: 262_144,
		});
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.engine.stop();
		await this.storage.close();
	}
}

/** Another node on the rig's database, and a way to advance the clock for both. */
async function startPeer(
	rig: EngineRig,
	database: RigDatabase,
	storage: FaultyStorage,
	wrap: (storage: Storage) => Storage = (storage) => storage,
) {
	const otherStorage = new FaultyStorage();
	const other = new Peer(rig, wrap(otherStorage.wrap(await database.open(rig.clock))));
	/** Advances the clock until this is true. */
	const pass = async (isSo: () => boolean, stepMs = 10): Promise<void> => {
		const end = rig.clock.now() + 120_000;
		const stillInTime = patience("the nodes to get there");
		while (!isSo()) {
			stillInTime();
			if (rig.clock.now() > end) throw new Error("It took more than two minutes.");
			rig.clock.advance(stepMs);
			await storage.quiet();
			await otherStorage.quiet();
		}
	};
	return { other, otherStorage, pass };
}

/** From now on until it is disposed of, the node on this storage is as good as killed. */
function kill(storage: FaultyStorage): DisposableStack {
	const stuck = new DisposableStack();
	for (const method of ["renewLeases", "renewLeases", "acquireLeases", "share"] as const)
		stuck.use(storage.holdCall(method));
	return stuck;
}

/** Storage that passes on no hints. */
const withoutHints = (storage: Storage): Storage =>
	replacing(storage, { peers: replacing(storage.peers!, { subscribe: () => () => undefined }) });

const replacing = <T extends object>(object: T, replaced: Partial<T>): T =>
	new Proxy(object, { get: (_, key) => Reflect.get(key in replaced ? replaced : object, key) });

/** What several nodes do together, on any storage they may share. */
export function describeNodes(name: string, createDatabase: () => Promise<RigDatabase>): void {
	describe(`nodes on ${name}`, () => {
		test("a change on a node that lost the lease returns only once the owner applies it", async () => {
			// It once consulted its own lanes, which no longer ran.
			const database = await createDatabase();
			const storage = new FaultyStorage();
			await using rig = await EngineRig.start(database, storage.wrap);
			const { id, url } = await rig.webhook("a");
			await rig.publish(1);
			await rig.settledCount(1);
			// The first node can't use its leases any longer.
			using stuck = new DisposableStack();
			for (const method of ["renewLeases", "renewLeases", "acquireLeases"] as const)
				stuck.use(storage.holdCall(method));
			const otherStorage = new FaultyStorage();
			await using other = new Peer(rig, otherStorage.wrap(await database.open(rig.clock)));
			const pass = async (isSo: () => boolean): Promise<void> => {
				const stillInTime = patience("the nodes to get there");
				while (!isSo()) {
					stillInTime();
					rig.clock.advance(10);
					await storage.quiet();
					await otherStorage.quiet();
				}
			};
			const passed = rig.clock.now() + 2 * LEASE_TERM_MS;
			await pass(() => rig.clock.now() >= passed);
			const draft = { type: "delivery.success", data: "{}" };
			await other.engine.publish(rig.projectId, [draft]);
			await pass(() => other.sender.sent.length === 1);
			expect(other.sender.to(url)).toHaveLength(1);

			const moved = "https://moved.example/";
			// Until this is released, the owner can't know of the change.
			const marks = otherStorage.holdCall("readMarks");
			let changed = false;
			const changing = rig.engine
				.change(
					rig.projectId,
					() => rig.storage.updateWebhook({ projectId: rig.projectId, webhookId: id, patch: { url: moved } }),
					() => ({ webhookId: id }),
				)
				.then(() => {
					changed = true;
				});
			for (let turns = 0; turns < 20; turns++) await storage.quiet();
			expect(changed).toBe(false);
			marks.release();
			await pass(() => changed);
			await changing;
			await other.engine.publish(rig.projectId, [draft]);
			await pass(() => other.sender.sent.length === 2);
			expect(other.sender.to(moved)).toHaveLength(1);
		});

		test("a change on a stopped node returns only once the owner applies it", async () => {
			// While stopping, it once returned without waiting: the other node kept signing with the old secret for a moment.
			const database = await createDatabase();
			const storage = new FaultyStorage();
			await using rig = await EngineRig.start(database, storage.wrap);
			const { id } = await rig.webhook("a");
			const { other, otherStorage, pass } = await startPeer(rig, database, storage);
			await using _other = other;
			await rig.engine.stop();
			const draft = { type: "delivery.success", data: "{}" };
			await other.engine.publish(rig.projectId, [draft]);
			await pass(() => other.sender.sent.length === 1);
			// Until this is released, the owner can't know of the change.
			const marks = otherStorage.holdCall("readMarks");
			let changed = false;
			const changing = rig.engine
				.change(
					rig.projectId,
					() => rig.storage.updateWebhook({ projectId: rig.projectId, webhookId: id, patch: { status: "paused" } }),
					() => ({ webhookId: id }),
				)
				.then(() => {
					changed = true;
				});
			for (let turns = 0; turns < 20; turns++) await storage.quiet();
			expect(changed).toBe(false);
			marks.release();
			await pass(() => changed);
			await changing;
		});

		test("a change that returned once the owner's lease had ended applies if the owner renews that lease", async () => {
			// It once continued with the webhooks that it had loaded before, until its next look at what others had changed.
			const database = await createDatabase();
			const storage = new FaultyStorage();
			await using rig = await EngineRig.start(database, storage.wrap);
			const { id, url } = await rig.webhook("a");
			await rig.publish(1);
			await rig.settledCount(1);
			const { other, otherStorage, pass } = await startPeer(rig, database, storage, withoutHints);
			await using _other = other;
			// The owner is cut off for longer than its lease, and the other node has no room for its project.
			using stuck = new DisposableStack();
			stuck.use(otherStorage.holdCall("acquireLeases"));
			const [renewal, marks] = [storage.holdCall("renewLeases"), storage.holdCall("readMarks")];
			stuck.use(renewal);
			stuck.use(marks);
			const moved = "https://moved.example/";
			let changed = false;
			const changing = other.engine
				.change(
					rig.projectId,
					() => other.storage.updateWebhook({ projectId: rig.projectId, webhookId: id, patch: { url: moved } }),
					() => ({ webhookId: id }),
				)
				.then(() => {
					changed = true;
				});
			await pass(() => changed);
			await changing;
			// It sends nothing before it has read what others changed, even if it can't at first.
			storage.fail("readMarks");
			renewal.release();
			await rig.publish(1);
			await pass(() => rig.sender.sent.length === 2);
			expect([rig.sender.to(url).length, rig.sender.to(moved).length]).toEqual([1, 1]);
			marks.release();
			await rig.settledCount(2);
		});

		// Seven such nodes once added half as many transactions again to those of a busy one.
		test("a node with nothing to do only reports, less than once every six seconds", async () => {
			const database = await createDatabase();
			const storage = new FaultyStorage();
			await using rig = await EngineRig.start(database, storage.wrap);
			await rig.webhook("a");
			const { other, otherStorage, pass } = await startPeer(rig, database, storage);
			await using _other = other;
			const begun = rig.clock.now();
			for (let events = 1; events <= 10; events++) {
				await rig.publish(1);
				await pass(() => rig.clock.now() >= begun + events * 10_000 && rig.settled.length === events, 100);
			}
			const { calls } = otherStorage;
			expect(other.engine.node).toMatchObject({ projects: 0, sharing: { nodes: 2 } });
			expect(calls.get("share")).toBe(15);
			// It looked for work as it started, and when the project first had some and no holder.
			expect(calls.get("acquireLeases")).toBeLessThanOrEqual(2);
			expect(calls.get("nextAlarm")).toBeLessThanOrEqual(2);
			expect(calls.get("readMarks") ?? 0).toBe(0);
		});

		test("a killed node's project is taken as soon as its lease has ended, by a node with nothing else to do", async () => {
			for (const aliveMs of [0, 1_000, 3_000, 5_000, 7_500]) {
				const database = await createDatabase();
				const storage = new FaultyStorage();
				await using rig = await EngineRig.start(database, storage.wrap);
				await rig.webhook("a");
				await rig.publish(1);
				await rig.settledCount(1);
				const { other, pass } = await startPeer(rig, database, storage);
				await using _other = other;
				const begun = rig.clock.now();
				await pass(() => rig.clock.now() >= begun + aliveMs);
				using _stuck = kill(storage);
				const killed = rig.clock.now();
				await pass(() => other.engine.node.projects === 1);
				expect(rig.clock.now() - killed).toBeLessThanOrEqual(LEASE_TERM_MS + 300);
			}
		});

		// Only the first of its leases' ends was awaited: the other project waited for a later report.
		test("each of a killed node's projects is taken as soon as its lease has ended", async () => {
			for (const laterMs of [600, 2_000, 3_200]) {
				const database = await createDatabase();
				const storage = new FaultyStorage();
				await using rig = await EngineRig.start(database, storage.wrap);
				await rig.webhook("a");
				await rig.publish(1);
				await rig.settledCount(1);
				const { other, pass } = await startPeer(rig, database, storage);
				await using _other = other;
				const second = await rig.project();
				const begun = rig.clock.now();
				await pass(() => rig.clock.now() >= begun + laterMs);
				let isTaken = false;
				const taking = rig.webhook("b", { projectId: second }).then(() => {
					isTaken = true;
				});
				await pass(() => isTaken && rig.engine.node.projects === 2);
				await taking;
				using _stuck = kill(storage);
				const killed = rig.clock.now();
				await pass(() => other.engine.node.projects === 2);
				expect(rig.clock.now() - killed).toBeLessThanOrEqual(LEASE_TERM_MS + 300);
			}
		});

		test.each([
			["is made", 7_000],
			// No node looked for work at all.
			["fails", 7_000],
			["hangs", 14_000],
		] as const)(
			"work whose hint was lost is found soon after the next report is due, even if that %s",
			async (how, mostMs) => {
				const database = await createDatabase();
				const storage = new FaultyStorage();
				await using rig = await EngineRig.start(database, storage.wrap);
				await rig.webhook("a");
				await rig.engine.stop();
				let isFailing = false;
				const failing = (real: Storage): Storage => {
					const peers = real.peers!;
					const share: typeof peers.share = (p) =>
						isFailing ? Promise.reject(new Error("The row is locked.")) : peers.share(p);
					return withoutHints(replacing(real, { peers: replacing(peers, { share }) }));
				};
				const { other, otherStorage, pass } = await startPeer(rig, database, storage, failing);
				await using _other = other;
				const begun = rig.clock.now();
				await pass(() => rig.clock.now() >= begun + 4_000);
				isFailing = how === "fails";
				using hanging = new DisposableStack();
				if (how === "hangs") hanging.use(otherStorage.holdCall("share"));
				const id = rig.ids.next("event");
				const event = {
					id,
					type: "delivery.success",
					createdAt: begun,
					createdAtGiven: false,
					body: Buffer.from("{}"),
				};
				await rig.storage.appendEvents({
					requests: [{ projectId: rig.projectId, publishedAt: rig.clock.now(), events: [event] }],
				});
				await pass(() => other.sender.sent.length === 1);
				expect(rig.clock.now() - begun).toBeLessThan(mostMs);
				isFailing = false;
			},
		);

		// It waited for the next report, up to two thirds of a lease duration.
		test("an event is sent soon if the project's owner, which this node has just met, has stopped", async () => {
			const database = await createDatabase();
			const storage = new FaultyStorage();
			await using rig = await EngineRig.start(database, storage.wrap);
			await rig.webhook("a");
			await rig.publish(1);
			await rig.settledCount(1);
			const { other, otherStorage, pass } = await startPeer(rig, database, storage);
			await using _other = other;
			other.engine.recheck(rig.projectId);
			await otherStorage.quiet();
			await rig.engine.stop();
			const stoppedAt = rig.clock.now();
			await other.engine.publish(rig.projectId, [{ type: "delivery.success", data: "{}" }]);
			await pass(() => other.sender.sent.length === 1);
			expect(rig.clock.now() - stoppedAt).toBeLessThanOrEqual(1_010);
		});

		// Others left it a share of the projects, which no node ran for a lease duration.
		test("a node that is stopped while it reports no longer counts", async () => {
			const database = await createDatabase();
			const storage = new FaultyStorage();
			await using rig = await EngineRig.start(database, storage.wrap);
			await rig.webhook("a");
			const { other, pass } = await startPeer(rig, database, storage);
			await using _other = other;
			await pass(() => other.engine.node.sharing?.nodes === 2, 100);
			using report = storage.holdCall("share");
			let isReporting = false;
			void report.reached.then(() => {
				isReporting = true;
			});
			await pass(() => isReporting, 100);
			const stopping = rig.engine.stop();
			await storage.quiet();
			report.release();
			await stopping;
			const stoppedAt = rig.clock.now();
			await pass(() => other.engine.node.sharing?.nodes === 1, 100);
			expect(rig.clock.now() - stoppedAt).toBeLessThan(LEASE_TERM_MS);
		});

		test("the project's owner sends another node's events", async () => {
			const database = await createDatabase();
			const storage = new FaultyStorage();
			await using rig = await EngineRig.start(database, storage.wrap);
			const { url } = await rig.webhook("a");
			const ids = await rig.publish(1);
			await rig.settledCount(1);
			const { other, pass } = await startPeer(rig, database, storage);
			await using _other = other;
			const result = await other.engine.publish(rig.projectId, [{ type: "delivery.success", data: "{}" }]);
			if (result.kind !== "published") throw new Error(`Publishing ended as ${result.kind}.`);
			await pass(() => rig.settled.length === 2, 250);
			expect(rig.sender.to(url)).toEqual([...ids, result.events[0]!.id]);
			expect(other.sender.sent).toEqual([]);
		});

		test("another node's events reach all webhooks, even if one webhook's read finds them before the announcement", async () => {
			// The other webhooks once stayed asleep: the announcement brought no news by then.
			const database = await createDatabase();
			const storage = new FaultyStorage();
			await using rig = await EngineRig.start(database, storage.wrap);
			const [success, failed] = ["delivery.success", "delivery.failed"];
			const asleep = await rig.webhook("asleep", { events: [success] });
			const reading = await rig.webhook("reading", { events: [failed] });
			await rig.publish(1, success);
			await rig.settledCount(1);
			const { other, pass } = await startPeer(rig, database, storage);
			await using _other = other;
			const publish = async (...types: readonly string[]): Promise<void> => {
				const drafts = types.map((type) => ({ type, data: "{}" }));
				expect(await other.engine.publish(rig.projectId, drafts)).toMatchObject({ kind: "published" });
			};
			using first = storage.holdCall("readLog");
			using second = storage.holdCall("readLog");
			first.release();
			await publish(success);
			await pass(() => rig.settled.length === 2);
			await second.reached;
			// As long as the clock doesn't move, nothing is announced.
			await publish(success, failed);
			second.release();
			await rig.settledCount(3);
			expect(rig.sender.to(reading.url)).toHaveLength(1);
			const announcedBy = rig.clock.now() + LEASE_TERM_MS / 2;
			await pass(() => rig.clock.now() >= announcedBy, 250);
			expect(rig.sender.to(asleep.url)).toHaveLength(3);
		});

		test("events that age out while a webhook is paused expire on the project's owner, whichever node sweeps", async () => {
			// They once waited until the owner happened to sweep, or released the project.
			const database = await createDatabase();
			const storage = new FaultyStorage();
			await using rig = await EngineRig.start(database, storage.wrap);
			const [success, failed] = ["delivery.success", "delivery.failed"];
			const { id } = await rig.webhook("forgotten", { events: [success] });
			const patch = { status: "paused" } as const;
			await rig.change(() => rig.storage.updateWebhook({ projectId: rig.projectId, webhookId: id, patch }));
			const old = await rig.publish(3, success);
			// Keeps the project from becoming idle.
			await rig.webhook("busy", { events: [failed] });
			const hang = Promise.withResolvers<FailureReason>();
			using _end = { [Symbol.dispose]: () => hang.resolve("timeout") };
			rig.sender.script = () => hang.promise;
			await rig.publish(1, failed);
			await rig.sentCount(1);
			await storage.quiet();
			const { other, otherStorage, pass } = await startPeer(rig, database, storage);
			await using _other = other;
			using _taking = otherStorage.holdCall("acquireLeases");
			await rig.engine.sweep();
			using _sweeping = storage.holdCall("takeSweep");
			rig.clock.advance(30 * DAY_MS - 2 * LEASE_TERM_MS);
			const agedOutBy = rig.clock.now() + 2 * LEASE_TERM_MS;
			await pass(() => rig.clock.now() > agedOutBy, 250);
			expect([rig.engine.node.projects, other.engine.node.projects, rig.settled.length]).toEqual([1, 0, 0]);
			await other.engine.sweep();
			await other.engine.sweep();
			await pass(() => rig.settled.length === 3, 250);
			expect(rig.settled.map(({ eventId, errorCode }) => [eventId, errorCode])).toEqual(
				old.map((eventId) => [eventId, "expired"]),
			);
		});

		test("a project changes nodes while a receiver hangs: its other webhooks continue, and the hanging attempt is logged once", async () => {
			// The whole project once waited until the attempt had ended.
			const database = await createDatabase();
			const storage = new FaultyStorage();
			await using rig = await EngineRig.start(database, storage.wrap);
			const [hanging, sound] = [await rig.webhook("hanging"), await rig.webhook("sound")];
			const hang = Promise.withResolvers<FailureReason>();
			rig.sender.script = ({ target }) => (target.url === hanging.url ? hang.promise : 200);
			const ids = await rig.publishAll(3);
			await rig.settledCount(3);
			const { other, pass } = await startPeer(rig, database, storage);
			await using _other = other;
			using _end = { [Symbol.dispose]: () => hang.resolve("timeout") };
			let stopped = false;
			const stopping = rig.engine.stop().then(() => {
				stopped = true;
			});
			await pass(() => other.engine.node.projects === 1);
			await other.engine.publish(rig.projectId, [{ type: "delivery.success", data: "{}" }]);
			await pass(() => other.sender.to(sound.url).length === 1);
			expect(other.sender.to(hanging.url)).toEqual([]);
			expect([stopped, rig.settled.length]).toEqual([false, 3]);
			hang.resolve("timeout");
			await pass(() => other.sender.to(hanging.url).length === 3);
			await stopping;
			expect(rig.settled.slice(3)).toMatchObject([
				{ eventId: ids[0], attempt: 1, status: "retrying", errorCode: "timeout" },
			]);
			expect(other.sender.to(hanging.url).slice(0, 2)).toEqual(ids.slice(1));
			await pass(() => other.settled.length === 5);
			expect(other.sender.to(hanging.url)[3]).toBe(ids[0]);
			const attempts = other.settled.filter(({ eventId }) => eventId === ids[0]).map(({ attempt }) => attempt);
			expect(attempts).toEqual([2]);
		});

		test("an attempt that was handed over and not settled in time is repeated, and its late outcome refused", async () => {
			const database = await createDatabase();
			const storage = new FaultyStorage();
			await using rig = await EngineRig.start(database, storage.wrap);
			const { url } = await rig.webhook("hanging", { maxInFlight: 2 });
			const hang = Promise.withResolvers<number>();
			rig.sender.script = () => hang.promise;
			const ids = await rig.publishAll(2);
			await rig.sentCount(2);
			const startedAt = rig.clock.now();
			const { other, pass } = await startPeer(rig, database, storage);
			await using _other = other;
			using _end = { [Symbol.dispose]: () => hang.resolve(200) };
			const stopping = rig.engine.stop();
			await pass(() => other.engine.node.projects === 1);
			await pass(() => rig.clock.now() >= startedAt + ATTEMPT_TIMEOUT_MS, 250);
			expect(other.sender.to(url)).toEqual([]);
			await pass(() => other.settled.length === 2, 250);
			expect(other.sender.to(url)).toEqual(ids);
			hang.resolve(200);
			await stopping;
			expect(rig.settled).toEqual([]);
		});

		test("requests not written when the project changed nodes are made by the next node", async () => {
			const database = await createDatabase();
			const storage = new FaultyStorage();
			await using rig = await EngineRig.start(database, storage.wrap);
			const { url } = await rig.webhook("connecting");
			const connected = Promise.withResolvers<void>();
			rig.sender.beforeWriting = () => connected.promise;
			const ids = await rig.publishAll(2);
			await rig.sentCount(1);
			const { other, pass } = await startPeer(rig, database, storage);
			await using _other = other;
			using _end = { [Symbol.dispose]: () => connected.resolve() };
			const stopping = rig.engine.stop();
			await pass(() => other.settled.length === 2);
			connected.resolve();
			await stopping;
			expect([rig.sender.written, rig.settled]).toEqual([[], []]);
			expect(other.sender.to(url)).toEqual(ids);
			expect(other.settled.map(({ attempt }) => attempt)).toEqual([1, 1]);
		});
	});
}
