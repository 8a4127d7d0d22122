import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { QUARANTINE } from "../../../src/storage/port.ts";
import type { StorageHarness } from "./harness.ts";
import { NODE, START, World } from "./world.ts";

export function describeLeases(harness: StorageHarness): void {
	describe("leases and alarms", () => {
		let world: World;
		beforeEach(async () => {
			world = await World.open(harness);
		});
		afterEach(() => world.dispose());

		test("a due project can be acquired once; its lease has an expiry and a rising generation", async () => {
			const project = await world.project();
			expect(await world.storage.acquireLeases({ holder: NODE, limit: 10 })).toEqual([]);
			expect(await world.storage.nextAlarm()).toBeNull();
			await world.publish(project, "a");
			expect(await world.storage.nextAlarm()).toBeLessThanOrEqual(START);
			const [lease, ...others] = await world.storage.acquireLeases({ holder: NODE, limit: 10 });
			expect(others).toEqual([]);
			expect(lease).toMatchObject({ projectId: project, expiresAt: START + harness.leaseTermMs });
			expect(await world.storage.nextAlarm()).toBeNull();
			expect(await world.storage.acquireLeases({ holder: "node_b", limit: 10 })).toEqual([]);
			expect(await world.storage.acquireLeases({ holder: NODE, limit: 10, projectIds: [project] })).toEqual([]);

			world.clock.time = lease!.expiresAt;
			expect(await world.storage.nextAlarm()).toBeLessThanOrEqual(world.clock.time);
			const [taken] = await world.storage.acquireLeases({ holder: "node_b", limit: 10 });
			expect(taken).toMatchObject({ projectId: project, expiresAt: lease!.expiresAt + harness.leaseTermMs });
			expect(taken!.generation).toBeGreaterThan(lease!.generation);
		});

		test("in quarantine no lease is granted, to any node, until it is released", async () => {
			const project = await world.project();
			await world.storage.setSetting({ name: QUARANTINE, value: "{}" });
			await world.publish(project, "a");
			for (const holder of [NODE, "node_b"]) {
				expect(await world.storage.acquireLeases({ holder, limit: 10 })).toEqual([]);
				expect(await world.storage.acquireLeases({ holder, limit: 10, projectIds: [project] })).toEqual([]);
			}
			expect(await world.storage.nextAlarm()).toBeLessThanOrEqual(START);
			await world.reopen();
			expect(await world.storage.acquireLeases({ holder: NODE, limit: 10 })).toEqual([]);
			await world.storage.endQuarantine();
			expect(await world.storage.acquireLeases({ holder: NODE, limit: 10 })).toMatchObject([{ projectId: project }]);
		});

		test("in quarantine a lease that is held isn't renewed, and doesn't count as locked", async () => {
			const project = await world.project();
			await world.publish(project, "a");
			const leases = await world.storage.acquireLeases({ holder: NODE, limit: 10 });
			expect(leases).toMatchObject([{ projectId: project }]);
			await world.storage.setSetting({ name: QUARANTINE, value: "{}" });
			for (const waits of [false, true])
				expect(await world.storage.renewLeases({ holder: NODE, leases, waits })).toEqual({ renewed: [], locked: [] });
			await world.storage.endQuarantine();
			expect(await world.storage.renewLeases({ holder: NODE, leases })).toMatchObject({
				renewed: [{ projectId: project }],
				locked: [],
			});
		});

		test("no more leases are granted than requested, and named projects are acquired whether due or not", async () => {
			const projects = [await world.project(), await world.project(), await world.project()];
			for (const project of projects) await world.publish(project, "a");
			expect(await world.storage.acquireLeases({ holder: NODE, limit: 2 })).toHaveLength(2);
			expect(await world.storage.acquireLeases({ holder: NODE, limit: 2 })).toHaveLength(1);
			const silent = await world.project();
			const named = await world.storage.acquireLeases({
				holder: NODE,
				limit: 10,
				projectIds: [silent, projects[0]!, world.id("project")],
			});
			expect(named.map(({ projectId }) => projectId)).toEqual([silent]);
		});

		// One with a due alarm was once skipped as long as others were woken again.
		test("if more projects are due than requested, they are acquired in turn, however often they are woken", async () => {
			const projects: string[] = [];
			for (let n = 0; n < 5; n++) projects.push(await world.project());
			for (const project of projects) await world.publish(project, "a");
			for (const each of [1, 2, 4]) {
				const taken = new Set<string>();
				for (let turn = 0; turn < Math.ceil(5 / each); turn++) {
					const leases = await world.storage.acquireLeases({ holder: NODE, limit: each });
					expect(leases).toHaveLength(each);
					for (const lease of leases) {
						taken.add(lease.projectId);
						// More was published in the meantime.
						await world.storage.releaseLease({ lease, wakeAt: null, seen: { lastSeq: -1, revision: -1 } });
					}
				}
				expect(taken.size, `${each} at a time`).toBe(5);
			}
		});

		test("overdue projects get every other slot, longest overdue first", async () => {
			const [busy, late, later, held] = [
				await world.project(),
				await world.project(),
				await world.project(),
				await world.project(),
			];
			await world.publish(busy, "a");
			for (const [project, at] of [
				[late, 100],
				[later, 200],
			] as const) {
				const { seen } = await world.storage.loadLanes({ projectId: project });
				await world.storage.releaseLease({ lease: await world.lease(project), wakeAt: START + at, seen });
			}
			await world.lease(held, "node_b");
			world.clock.time = START + 100 + harness.leaseTermMs;
			const order: string[] = [];
			for (let turn = 0; turn < 6; turn++) {
				const [lease] = await world.storage.acquireLeases({ holder: NODE, limit: 1 });
				order.push(lease!.projectId);
				if (lease!.projectId === busy)
					await world.storage.releaseLease({ lease: lease!, wakeAt: null, seen: { lastSeq: -1, revision: -1 } });
			}
			expect(order.filter((project) => project !== busy)).toEqual([late, later, held]);
		});

		test("with one slot at a time, an overdue project gets the second one, however many have new events", async () => {
			const late = await world.project();
			const { seen } = await world.storage.loadLanes({ projectId: late });
			await world.storage.releaseLease({ lease: await world.lease(late), wakeAt: START + 100, seen });
			for (let n = 0; n < 5; n++) await world.publish(await world.project(), "a");
			world.clock.time = START + 100;
			const order: string[] = [];
			for (let turn = 0; turn < 2; turn++)
				order.push((await world.storage.acquireLeases({ holder: NODE, limit: 1 }))[0]!.projectId);
			expect(order.indexOf(late)).toBe(1);
		});

		// Overdue projects once took its turns as long as there were any, because its number was before the last one taken.
		test("a project with new events gets its turn, however many projects are overdue", async () => {
			const busy = await world.project();
			const overdue: string[] = [];
			for (let n = 1; n <= 12; n++) {
				const project = await world.project();
				const { seen } = await world.storage.loadLanes({ projectId: project });
				await world.storage.releaseLease({ lease: await world.lease(project), wakeAt: START + n, seen });
				overdue.push(project);
			}
			world.clock.time = START + overdue.length;
			await world.publish(busy, "a");
			const order: string[] = [];
			for (let turn = 0; turn < overdue.length; turn++) {
				const [lease] = await world.storage.acquireLeases({ holder: NODE, limit: 1 });
				order.push(lease!.projectId);
				// More was published in the meantime.
				if (lease!.projectId === busy)
					await world.storage.releaseLease({ lease: lease!, wakeAt: null, seen: { lastSeq: -1, revision: -1 } });
			}
			const taken = order.filter((project) => project !== busy);
			expect(taken).toEqual(overdue.slice(0, taken.length));
			// After the last project with news, it takes one more turn to start over.
			expect(order.length - taken.length).toBeGreaterThanOrEqual(order.length / 4);
		});

		test("renewing only extends leases that are still valid", async () => {
			const [kept, lost, given] = [await world.project(), await world.project(), await world.project()];
			const leases = [await world.lease(kept), await world.lease(lost), await world.lease(given)];
			await world.storage.releaseLease({ lease: leases[2]!, wakeAt: null, seen: { lastSeq: 0, revision: 0 } });
			world.clock.time += harness.leaseTermMs - 1;
			const {
				renewed: [renewed, ...others],
			} = await world.storage.renewLeases({ holder: NODE, leases: [leases[0]!, leases[2]!] });
			expect(others).toEqual([]);
			expect(renewed).toEqual({ ...leases[0], expiresAt: world.clock.time + harness.leaseTermMs });
			expect(await world.storage.renewLeases({ holder: "node_b", leases: [renewed!] })).toEqual({
				renewed: [],
				locked: [],
			});
			world.clock.time += 1;
			const taken = await world.lease(lost, "node_b");
			expect((await world.storage.renewLeases({ holder: NODE, leases: [renewed!, leases[1]!] })).renewed).toHaveLength(
				1,
			);
			expect((await world.storage.renewLeases({ holder: "node_b", leases: [taken] })).renewed).toHaveLength(1);
		});

		test("a lease is released with the time of the next alarm", async () => {
			const project = await world.project();
			await world.publish(project, "a");
			let lease = await world.lease(project);
			const { seen } = await world.storage.loadLanes({ projectId: project });
			await world.storage.releaseLease({ lease, wakeAt: START + 500, seen });
			expect(await world.storage.nextAlarm()).toBe(START + 500);
			expect(await world.storage.acquireLeases({ holder: NODE, limit: 10 })).toEqual([]);
			world.clock.time = START + 500;
			[lease] = (await world.storage.acquireLeases({ holder: NODE, limit: 10 })) as [typeof lease];
			expect(lease.projectId).toBe(project);
			await world.storage.releaseLease({ lease, wakeAt: null, seen });
			expect(await world.storage.nextAlarm()).toBeNull();
			world.clock.time += 1e9;
			expect(await world.storage.acquireLeases({ holder: NODE, limit: 10 })).toEqual([]);
		});

		test("an expired lease makes its project due, even if its alarm is set for later", async () => {
			const [ended, later] = [await world.project(), await world.project()];
			await world.lease(ended);
			const lease = await world.lease(later);
			await world.storage.releaseLease({
				lease,
				wakeAt: START + 1e9,
				seen: (await world.storage.loadLanes({ projectId: later })).seen,
			});
			expect(await world.storage.nextAlarm()).toBe(START + 1e9);
			world.clock.time += harness.leaseTermMs;
			expect(await world.storage.nextAlarm()).toBeLessThanOrEqual(world.clock.time);
		});

		test("changes after the lanes were loaded keep the project due", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const [event] = await world.publish(project, "a");
			const { createdAtGiven: _, ...sample } = world.event(project, "a");
			const changes = [
				() => world.publish(project, "b"),
				() => world.storage.updateWebhook({ projectId: project, webhookId: webhook, patch: { maxInFlight: 2 } }),
				() => world.storage.rotateSecret({ projectId: project, webhookId: webhook, sealedDigest: Buffer.from("x") }),
				() => world.storage.appendTestEvent({ projectId: project, webhookId: webhook, event: sample }),
				() => world.storage.replayDelivery({ projectId: project, webhookId: webhook, eventId: event!.id, at: START }),
				() => world.storage.setDeveloperApp({ projectId: project, installed: true }),
				() => world.storage.deleteWebhook({ projectId: project, webhookId: webhook }),
			];
			await world.finish(await world.lease(project), webhook, event!, "delivered");
			world.clock.time += harness.leaseTermMs;
			for (const change of changes) {
				const lease = await world.lease(project);
				const { seen } = await world.storage.loadLanes({ projectId: project });
				await change();
				await world.storage.releaseLease({ lease, wakeAt: world.clock.time + 1e9, seen });
				expect(await world.storage.nextAlarm(), String(change)).toBeLessThanOrEqual(world.clock.time);
			}
			const [quiet] = await world.storage.acquireLeases({ holder: NODE, limit: 10 });
			const { seen } = await world.storage.loadLanes({ projectId: project });
			await world.storage.releaseLease({ lease: quiet!, wakeAt: null, seen });
			expect(await world.storage.nextAlarm()).toBeNull();
		});

		test("a change wakes a project without an owner; a repeated publish doesn't", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			const events = [world.event(project, "a")];
			const request = { projectId: project, publishedAt: START, events };
			await world.storage.appendEvents({ requests: [request] });
			const giveBack = async () => {
				const lease = await world.lease(project);
				const { seen } = await world.storage.loadLanes({ projectId: project });
				await world.storage.releaseLease({ lease, wakeAt: null, seen });
				expect(await world.storage.nextAlarm()).toBeNull();
			};
			await giveBack();
			await world.storage.appendEvents({ requests: [request] });
			expect(await world.storage.nextAlarm()).toBeNull();
			await world.storage.updateWebhook({ projectId: project, webhookId: webhook, patch: { description: "x" } });
			expect(await world.storage.nextAlarm()).not.toBeNull();
			await giveBack();
			await world.publish(project, "a");
			expect(await world.storage.nextAlarm()).not.toBeNull();
		});

		test("a previous owner can neither settle nor release", async () => {
			const project = await world.project();
			const webhook = await world.webhook(project, ["a"]);
			// The second one exists only to be settled too early.
			const [event] = await world.publish(project, "a", "a");
			const lost = await world.lease(project);
			world.clock.time += harness.leaseTermMs;
			const held = await world.lease(project, "node_b");
			const outcome = {
				attempts: [world.attempt(webhook, event!)],
				lanes: [{ webhookId: webhook, position: 1, open: [] }],
			};
			expect(await world.settle(lost, outcome)).toBe("stale");
			expect((await world.lane(project, webhook)).position).toBe(0);
			await world.storage.releaseLease({ lease: lost, wakeAt: null, seen: { lastSeq: 1, revision: 1 } });
			expect(await world.storage.acquireLeases({ holder: NODE, limit: 10, projectIds: [project] })).toEqual([]);
			expect(await world.settle(held, outcome)).toBe("settled");
			await world.storage.releaseLease({
				lease: held,
				wakeAt: null,
				seen: (await world.storage.loadLanes({ projectId: project })).seen,
			});
			expect(await world.settle(held, { lanes: [{ webhookId: webhook, position: 2, open: [] }] })).toBe("stale");
			expect((await world.lane(project, webhook)).position).toBe(1);
		});
	});
}
