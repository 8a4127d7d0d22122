import { VirtualClock } from "@posthorn/testkit/virtual-clock";
import { expect, test } from "vitest";
import type { Storage } from "../../packages/server/src/storage/port.ts";
import { MemoryDatabase, openMemoryStorage } from "../../packages/server/test/storage/memory/index.ts";
import { Polls } from "./polls.ts";

const TERM_MS = 10_000;
const PROJECT = "proj_1";

test("a poll that would find what it found before is not made", async () => {
	const clock = new VirtualClock();
	const storage = await openMemoryStorage({ database: new MemoryDatabase({ clock }), clock, leaseTermMs: TERM_MS });
	const calls: string[] = [];
	const counted = new Proxy(storage, {
		get(_, key) {
			const value: unknown = Reflect.get(storage, key, storage);
			if (typeof value !== "function") return value;
			return (...args: unknown[]) => {
				calls.push(String(key));
				return value.apply(storage, args);
			};
		},
	}) as Storage;
	const node = new Polls(() => clock.now(), TERM_MS).opened(counted);
	const poll = async () => {
		calls.length = 0;
		const taken = await node.acquireLeases({ holder: "a", limit: 10 });
		const alarm = await node.nextAlarm();
		return { taken: taken.length, alarm, calls: [...calls] };
	};
	const bothCalls = ["acquireLeases", "nextAlarm"];

	await node.createProject({ id: PROJECT, name: "A store", apps: [], createdAt: clock.now() });
	expect(await poll()).toEqual({ taken: 0, alarm: null, calls: bothCalls });
	expect(await poll()).toEqual({ taken: 0, alarm: null, calls: [] });
	// A lease may have ended.
	clock.advance(TERM_MS + 1);
	expect((await poll()).calls).toEqual(bothCalls);
	// None is left to end.
	clock.advance(10 * TERM_MS);
	expect((await poll()).calls).toEqual([]);

	const [lease] = await node.acquireLeases({ holder: "a", limit: 10, projectIds: [PROJECT] });
	const wakeAt = clock.now() + 1_000;
	await node.releaseLease({ lease: lease!, wakeAt, seen: { lastSeq: 0, revision: 0 } });
	expect(await poll()).toEqual({ taken: 0, alarm: wakeAt, calls: bothCalls });
	clock.advance(999);
	expect(await poll()).toEqual({ taken: 0, alarm: wakeAt, calls: [] });
	clock.advance(1);
	expect(await poll()).toMatchObject({ taken: 1, calls: bothCalls });
	// Taking a lease changed something.
	expect((await poll()).calls).toEqual(["acquireLeases"]);
});

test("a node asks for its share again when a project is due", async () => {
	const clock = new VirtualClock();
	const storage = await openMemoryStorage({ database: new MemoryDatabase({ clock }), clock, leaseTermMs: TERM_MS });
	const node = new Polls(() => clock.now(), TERM_MS).opened(storage);
	const share = () => node.peers!.share({ holder: "a" });
	await node.createProject({ id: PROJECT, name: "A store", apps: [], createdAt: clock.now() });
	const [lease] = await node.acquireLeases({ holder: "a", limit: 10, projectIds: [PROJECT] });
	const wakeAt = clock.now() + 10 * TERM_MS;
	await node.releaseLease({ lease: lease!, wakeAt, seen: { lastSeq: 0, revision: 0 } });
	clock.advance(2 * TERM_MS);
	await node.nextAlarm();
	expect(await share()).toMatchObject({ projects: 0 });
	clock.advance(8 * TERM_MS);
	expect(await share()).toMatchObject({ projects: 1 });
});
