import { describe, expect, test } from "vitest";
import { WINDOWS } from "../src/base/budgets.ts";
import { LEASE_TERM_MS, type StartRig } from "./engine-rig.ts";
import { FaultyStorage } from "./faulty-storage.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Storage that is unavailable for a while. */
export function describeOutages(start: StartRig): void {
	describe("outages", () => {
		test("outcomes are settled after an outage of any length, and nothing is sent again", async () => {
			// The engine once asked storage for projects with expired leases before it had renewed its own.
			for (const terms of [0.5, 1.2, 1.8, 2.6]) {
				const outageMs = terms * LEASE_TERM_MS;
				const storage = new FaultyStorage();
				await using rig = await start(storage.wrap);
				await rig.webhook("a");
				const answer = Promise.withResolvers<number>();
				rig.sender.script = (_shipment, nth) => (nth === 1 ? answer.promise : 200);
				await storage.pass(rig.clock, 55_000);
				await rig.publish(1);
				await rig.sentCount(1);
				await storage.pass(rig.clock, 1_000);
				storage.away = true;
				answer.resolve(200);
				await storage.pass(rig.clock, outageMs);
				storage.away = false;
				await storage.pass(rig.clock, MINUTE_MS);
				const states = rig.settled.map(({ attempt, status }) => [attempt, status]);
				expect(states, `after ${outageMs} ms`).toEqual([[1, "delivered"]]);
				expect(rig.sender.sent, `after ${outageMs} ms`).toHaveLength(1);
			}
		});

		// Each project logged a line twice a second: thousands of projects wrote megabytes a second.
		test("reads that fail are logged a few times for all projects together, until they succeed", async () => {
			const storage = new FaultyStorage();
			await using rig = await start(storage.wrap);
			const projects = [rig.projectId, await rig.project(), await rig.project(), await rig.project()];
			for (const projectId of projects) await rig.webhook("a", { projectId });
			rig.sender.script = () => 500;
			for (const project of projects) await rig.publishAll(1, "delivery.success", project);
			await storage.pass(rig.clock, 1_000);
			expect(rig.settled).toHaveLength(projects.length);
			// Their retries are due after 30 s.
			await storage.pass(rig.clock, 25_000);
			storage.away = true;
			await storage.pass(rig.clock, MINUTE_MS);
			const lines = (message: string) => rig.logged.filter((line) => line === message).length;
			expect(lines("failed to read from storage")).toBeGreaterThan(0);
			expect(lines("failed to read from storage")).toBeLessThan(5);
			storage.away = false;
			rig.sender.script = () => 200;
			await storage.pass(rig.clock, 3 * MINUTE_MS);
			expect(lines("actors read from storage again")).toBe(1);
			expect(rig.settled.filter(({ status }) => status === "delivered")).toHaveLength(projects.length);
		});

		// If no other node publishes, nothing else reads how far the log goes: such an event waited for the next one.
		test("an event whose commit had no response is sent, even if the log can't be read at first", async () => {
			const storage = new FaultyStorage();
			await using rig = await start(storage.wrap);
			await rig.webhook("a");
			await rig.publish(1);
			await storage.pass(rig.clock, 1_000);
			expect(rig.sender.sent).toHaveLength(1);
			storage.loseAnswer("appendEvents");
			storage.fail("readLogEnd");
			await expect(rig.publish(1)).rejects.toMatchObject({ code: "lost" });
			await storage.pass(rig.clock, 5_000);
			expect(rig.sender.sent).toHaveLength(2);
		});

		// Nothing else looked at the queues of a project that this node runs: they waited until it was woken.
		test("a test event and a replay whose commits had no response are sent", async () => {
			const storage = new FaultyStorage();
			await using rig = await start(storage.wrap);
			const { id } = await rig.webhook("a");
			const [eventId] = await rig.publish(1);
			await storage.pass(rig.clock, 1_000);
			expect(rig.sender.sent).toHaveLength(1);
			storage.loseAnswer("appendTestEvent");
			await expect(rig.engine.sendTest(rig.projectId, id, "delivery.success")).rejects.toMatchObject({ code: "lost" });
			await storage.pass(rig.clock, 5_000);
			expect(rig.sender.sent).toHaveLength(2);
			storage.loseAnswer("replayDelivery");
			const of = { projectId: rig.projectId, webhookId: id, eventId: eventId!, at: rig.clock.now() };
			const replayed = rig.engine.wakeAfter(rig.projectId, rig.storage.replayDelivery(of), () => false);
			await expect(replayed).rejects.toMatchObject({ code: "lost" });
			await storage.pass(rig.clock, 5_000);
			expect(rig.sender.sent).toHaveLength(3);
		});

		// Each failed append once caused reads of its own, repeatedly: more calls every second of an outage.
		test("however many appends fail, the log's end is read one time at a time", async () => {
			const storage = new FaultyStorage();
			await using rig = await start(storage.wrap);
			await rig.webhook("a");
			await rig.publish(1);
			await storage.pass(rig.clock, 1_000);
			const before = storage.calls.get("readLogEnd") ?? 0;
			const read = storage.holdCall("readLogEnd");
			for (let n = 0; n < 20; n++) {
				storage.fail("appendEvents");
				await expect(rig.publish(1)).rejects.toMatchObject({ code: "lost" });
			}
			await read.reached;
			expect(storage.calls.get("readLogEnd")).toBe(before + 1);
			read.release();
			await storage.pass(rig.clock, 5_000);
			expect(storage.calls.get("readLogEnd")).toBe(before + 2);
		});

		// It was once trusted until its wall-clock end: an hour too long, while another node may have held it.
		test("a project whose lease can't be renewed stops at its end, even if the clock was set back", async () => {
			const storage = new FaultyStorage();
			await using rig = await start(storage.wrap);
			await rig.webhook("a");
			await rig.publish(1);
			await storage.pass(rig.clock, 1_000);
			expect(rig.sender.sent).toHaveLength(1);
			storage.fail("renewLeases", Number.POSITIVE_INFINITY);
			rig.clock.set(-60 * MINUTE_MS);
			await storage.pass(rig.clock, LEASE_TERM_MS);
			await rig.publish(1);
			await storage.pass(rig.clock, LEASE_TERM_MS);
			expect(rig.sender.sent).toHaveLength(1);
			storage.fail("renewLeases", 0);
			await storage.pass(rig.clock, LEASE_TERM_MS);
			expect(rig.sender.sent).toHaveLength(2);
		});

		// The lease was trusted again as soon as the clock was set back, so no renewal found it late, and nothing looked at
		// what had waited: the webhook stood still, even for new events.
		test("a clock that is wrong between two renewals stops a project no longer than until the next one", async () => {
			const storage = new FaultyStorage();
			await using rig = await start(storage.wrap);
			await rig.webhook("a");
			await rig.publish(1);
			await storage.pass(rig.clock, LEASE_TERM_MS);
			expect(rig.sender.sent).toHaveLength(1);
			rig.clock.set(365 * DAY_MS);
			await rig.publish(1);
			await storage.pass(rig.clock, 10);
			rig.clock.set(-365 * DAY_MS);
			await rig.publish(1);
			await storage.pass(rig.clock, LEASE_TERM_MS);
			expect(rig.sender.sent).toHaveLength(3);
		});

		// They waited until the time that the clock had shown: for a year.
		test("retries that were scheduled while the clock was ahead are due once it is set back", async () => {
			const storage = new FaultyStorage();
			await using rig = await start(storage.wrap);
			await rig.webhook("a");
			await rig.publish(1);
			await storage.pass(rig.clock, LEASE_TERM_MS);
			rig.clock.set(365 * DAY_MS);
			await storage.pass(rig.clock, LEASE_TERM_MS);
			rig.sender.script = () => 500;
			// More than fit into memory.
			const count = WINDOWS.retriesPerQueue + 1;
			await rig.publishAll(count);
			await storage.pass(rig.clock, 20_000);
			expect(rig.settled.filter(({ status }) => status === "retrying")).toHaveLength(count);
			rig.clock.set(-365 * DAY_MS);
			rig.sender.script = () => 200;
			await storage.pass(rig.clock, 2 * MINUTE_MS);
			expect(rig.settled.filter(({ attempt, status }) => attempt === 2 && status === "delivered")).toHaveLength(count);
		});

		// They were all sent as soon as the project ran, and dead-lettered if the receiver was still down.
		test("retries keep their times when an operator lowers the delays", async () => {
			const storage = new FaultyStorage();
			await using rig = await start(storage.wrap);
			const restart = async (retryDelaysMs: readonly number[]) => {
				await rig.close();
				rig.retryDelaysMs = retryDelaysMs;
				await rig.open();
			};
			await restart([30 * MINUTE_MS]);
			await rig.webhook("a");
			rig.sender.script = () => 500;
			const [id] = await rig.publish(1);
			await storage.pass(rig.clock, 1_000);
			await restart([1_000]);
			rig.sender.script = () => 200;
			await rig.publish(1);
			await storage.pass(rig.clock, 20 * MINUTE_MS);
			const results = () => rig.settled.filter(({ eventId }) => eventId === id).map(({ status }) => status);
			expect(results()).toEqual(["retrying"]);
			await storage.pass(rig.clock, 10 * MINUTE_MS);
			expect(results()).toEqual(["retrying", "delivered"]);
		});

		// Its project once stopped until the next regular renewal, a third of the lease duration.
		test("a lease that took most of its duration to arrive is renewed immediately", async () => {
			const storage = new FaultyStorage();
			await using rig = await start(storage.wrap);
			await rig.webhook("a");
			// After this long idle, the project was released.
			await storage.pass(rig.clock, 3 * MINUTE_MS);
			using taken = storage.holdResult("acquireLeases");
			const [eventId] = await rig.publish(1);
			await taken.reached;
			await storage.pass(rig.clock, 0.9 * LEASE_TERM_MS);
			taken.release();
			await storage.quiet();
			expect(rig.sender.sent.map((request) => request.eventId)).toEqual([eventId]);
		});

		// Where no other node shares the database, nothing polled for the expired lease for up to a minute.
		test("a project whose lease can't be released is taken again when the lease has expired", async () => {
			const storage = new FaultyStorage();
			await using rig = await start(storage.wrap);
			await rig.webhook("a");
			await rig.publish(1);
			await rig.settledCount(1);
			storage.fail("releaseLease");
			const releases = () => storage.calls.get("releaseLease") ?? 0;
			const before = releases();
			for (let s = 0; s < 180 && releases() === before; s++) await storage.pass(rig.clock, 1_000);
			expect(releases()).toBe(before + 1);
			const [eventId] = await rig.publish(1);
			await storage.pass(rig.clock, LEASE_TERM_MS + 1_000);
			expect(rig.sender.sent[1]?.eventId).toBe(eventId);
		});

		test("webhooks that couldn't be read when a project was acquired are soon read again", async () => {
			const storage = new FaultyStorage();
			await using rig = await start(storage.wrap);
			await rig.webhook("a");
			// After this long idle, the project was released.
			await storage.pass(rig.clock, 3 * MINUTE_MS);
			storage.fail("loadLanes");
			const published = rig.clock.now();
			await rig.publish(1);
			await storage.pass(rig.clock, LEASE_TERM_MS / 2);
			expect(rig.sender.sent).toHaveLength(1);
			expect(rig.sender.sent[0]!.at).toBeGreaterThan(published);
		});

		// With a damaged page of theirs, 150 projects logged as many stacks a second.
		test("projects whose webhooks can't be read are logged a few times together, until they can be", async () => {
			const storage = new FaultyStorage();
			await using rig = await start(storage.wrap);
			const projects = [rig.projectId, await rig.project(), await rig.project(), await rig.project()];
			for (const projectId of projects) await rig.webhook("a", { projectId });
			// After this long idle, they were released.
			await storage.pass(rig.clock, 3 * MINUTE_MS);
			storage.fail("loadLanes", 4 * projects.length);
			for (const project of projects) await rig.publishAll(1, "delivery.success", project);
			await storage.pass(rig.clock, MINUTE_MS);
			const lines = (message: string) => rig.logged.filter((line) => line === message).length;
			expect(lines("failed to read a project's webhooks")).toBeGreaterThan(0);
			expect(lines("failed to read a project's webhooks")).toBeLessThan(5);
			expect(lines("projects' webhooks are read again")).toBe(1);
			expect(rig.settled).toHaveLength(projects.length);
		});

		test("webhooks that couldn't be read after a change are read again, and attempts in flight are settled", async () => {
			// It was once dropped and sent again.
			const storage = new FaultyStorage();
			await using rig = await start(storage.wrap);
			const { id, url } = await rig.webhook("a");
			const answer = Promise.withResolvers<number>();
			rig.sender.script = (_shipment, nth) => (nth === 1 ? answer.promise : 200);
			await rig.publish(1);
			await rig.sentCount(1);
			storage.fail("loadLanes");
			const moved = "https://moved.example/";
			let changed = false;
			const changing = rig.engine
				.change(
					rig.projectId,
					() => rig.storage.updateWebhook({ projectId: rig.projectId, webhookId: id, patch: { url: moved } }),
					() => "project",
				)
				.then(() => {
					changed = true;
				});
			await storage.quiet();
			// Not before the change is in force.
			expect(changed).toBe(false);
			answer.resolve(200);
			await storage.pass(rig.clock, LEASE_TERM_MS / 2);
			await changing;
			await rig.publish(1);
			await storage.pass(rig.clock, MINUTE_MS);
			expect(rig.sender.sent.map((sent) => sent.url)).toEqual([url, moved]);
			expect(rig.settled.map(({ attempt, status }) => [attempt, status])).toEqual([
				[1, "delivered"],
				[1, "delivered"],
			]);
		});

		test("a retry whose event can't be read releases its slot, and is made once it can be read", async () => {
			const storage = new FaultyStorage();
			await using rig = await start(storage.wrap);
			await rig.webhook("a");
			rig.sender.script = (_shipment, nth) => (nth === 1 ? 500 : 200);
			await rig.publish(1);
			await rig.settledCount(1);
			storage.fail("readEvents", 3);
			await storage.pass(rig.clock, MINUTE_MS);
			expect(rig.settled.map(({ attempt, status }) => [attempt, status])).toEqual([
				[1, "retrying"],
				[2, "delivered"],
			]);
			expect(rig.engine.budgets.find(({ name }) => name === "sends")?.used).toBe(0);
		});
	});
}
