import { VirtualClock } from "@posthorn/testkit";
import { expect, test } from "vitest";
import type { Moment } from "../../base/clock.ts";
import { silentLogger } from "../../base/logger.ts";
import type { Lease, Storage } from "../../storage/port.ts";
import type { Actor } from "./actor.ts";
import { LeaseTaker, type LeaseTakerOptions, type TakerContext } from "./lease-taker.ts";
import { Roster } from "./roster.ts";

// What the leaver had lay idle until the next renewal told this node that there were fewer.
test("a node that has its share asks what it is now before it leaves rung projects to others", async () => {
	const rung = ["p1", "p2", "p3", "p4", "p5"];
	const roster = new Roster();
	roster.share = 2;
	const storage: Partial<Storage> = {
		capabilities: { manyNodes: true },
		acquireLeases: async (_, limit) =>
			rung.splice(0, limit).map((projectId): Lease => ({ projectId, generation: 1, expiresAt: 10_000 })),
		nextAlarm: async () => null,
	};
	const shares = [4, 5];
	const taker = takerOf(storage, {
		roster,
		renewShare: async () => {
			roster.share = shares.shift()!;
		},
		onTaken: ({ projectId }) => roster.add({ projectId, end() {} } as Actor),
	});
	taker.takeRung();
	await taker.whenDone();
	expect([...roster.actors.keys()]).toEqual(["p1", "p2", "p3", "p4"]);
	taker.takeRung();
	await taker.whenDone();
	expect(roster.actors.size).toBe(5);
	expect([rung, shares]).toEqual([[], []]);
});

// Trusted from the answer on, a lease would be trusted for longer than storage keeps it for this node.
test("a lease counts from when it was asked for, however long the answer takes", async () => {
	const clock = new VirtualClock();
	const storage: Partial<Storage> = {
		capabilities: { manyNodes: false },
		acquireLeases: async (_, __, projectIds = []) => {
			clock.advance(5_000);
			return projectIds.map((projectId): Lease => ({ projectId, generation: 1, expiresAt: 10_000 }));
		},
		nextAlarm: async () => null,
	};
	const taken: Moment[] = [];
	const roster = new Roster();
	const before = { now: clock.now(), elapsed: clock.elapsed() };
	const taker = takerOf(storage, {
		clock,
		roster,
		onTaken: (_, asked) => taken.push(asked),
	});
	taker.poke("p1");
	await taker.whenDone();
	expect(taken).toEqual([before]);
});

// After an epoch began, a storage that failed was once asked again in a loop, without a pause.
test("after storage failed, it is asked again after a second, and not before", async () => {
	const clock = new VirtualClock();
	let asked = 0;
	const storage: Partial<Storage> = {
		capabilities: { manyNodes: true },
		acquireLeases: async () => {
			asked += 1;
			throw new Error("The database is away.");
		},
		nextAlarm: async () => null,
	};
	const taker = takerOf(storage, { clock, disk: clock });
	taker.takeAgain(["p1"]);
	for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
	expect(asked).toBe(1);
	clock.advance(1_000);
	await taker.whenDone();
	expect(asked).toBe(2);
});

// A project whose row was locked for a moment once counted as another node's for a second, and nobody worked it.
test("a lease whose row somebody else holds is tried again soon, and nobody is taken to work its project", async () => {
	const disk = new VirtualClock();
	const asked: (readonly string[])[] = [];
	let isLocked = true;
	const storage: Partial<Storage> = {
		capabilities: { manyNodes: true },
		acquireLeases: async (_, __, projectIds = [], ___, onLocked) => {
			asked.push(projectIds);
			const free = projectIds.filter((projectId) => projectId !== "held" || !isLocked);
			const locked = projectIds.filter((projectId) => !free.includes(projectId));
			if (locked.length > 0) onLocked?.(locked);
			return free.map((projectId): Lease => ({ projectId, generation: 1, expiresAt: 10_000 }));
		},
		nextAlarm: async () => null,
	};
	const roster = new Roster();
	const taker = takerOf(storage, {
		disk,
		roster,
		onTaken: ({ projectId }) => roster.add({ projectId, end() {} } as Actor),
	});
	const begun = disk.elapsed();
	taker.poke("held");
	await taker.whenDone();
	// However often it is poked meanwhile, and whoever else is.
	for (let i = 0; i < 10; i++) taker.poke("held");
	taker.poke("free");
	await taker.whenDone();
	expect(asked).toEqual([["held"], ["free"]]);
	for (let tries = 2; tries <= 4; tries++) {
		disk.advanceTo(disk.nextAt!);
		await taker.whenDone();
		expect(asked.slice(2)).toHaveLength(tries - 1);
	}
	expect(disk.elapsed() - begun).toBeLessThan(100);
	isLocked = false;
	disk.advanceTo(disk.nextAt!);
	await taker.whenDone();
	expect([...roster.actors.keys()]).toEqual(["free", "held"]);
	expect(disk.nextAt).toBeNull();
});

// Until the next alarm of another project, which may be hours away, nobody looked for what had been left to run out.
test("polls for leases left to run out, even while storage is asked for the next alarm", async () => {
	const clock = new VirtualClock();
	const begun = clock.elapsed();
	const asked: number[] = [];
	const alarm = Promise.withResolvers<null>();
	const storage: Partial<Storage> = {
		capabilities: { manyNodes: false },
		acquireLeases: async () => {
			asked.push(clock.elapsed() - begun);
			return [];
		},
		nextAlarm: () => alarm.promise,
	};
	const taker = takerOf(storage, { clock, disk: clock });
	taker.takeRung();
	await turn();
	taker.takeLapsed();
	alarm.resolve(null);
	await taker.whenDone();
	for (let s = 0; s < 20; s++) {
		clock.advance(1_000);
		await taker.whenDone();
	}
	expect(asked).toContain(10_000);
	expect(asked.length).toBeLessThanOrEqual(12);
});

// A project that was released then waited for the next alarm that storage had known of before.
test("does not miss the alarm of a project released while storage is asked for the next one", async () => {
	const clock = new VirtualClock();
	const begun = clock.elapsed();
	const asked: number[] = [];
	const alarms = [Promise.withResolvers<null>(), Promise.withResolvers<null>()];
	let looks = 0;
	const storage: Partial<Storage> = {
		capabilities: { manyNodes: false },
		acquireLeases: async () => {
			asked.push(clock.elapsed() - begun);
			return [];
		},
		nextAlarm: () => alarms[Math.min(looks++, 1)]!.promise,
	};
	const taker = takerOf(storage, { clock, disk: clock });
	taker.takeRung();
	await turn();
	taker.givenBack("p1", clock.now() + 5_000);
	alarms[0]!.resolve(null);
	await taker.whenDone();
	clock.advance(5_000);
	await turn();
	expect(asked).toEqual([0, 5_000]);
	alarms[1]!.resolve(null);
	await taker.whenDone();
});

/** A node with two places, both taken by "a" and "b", where more projects have rung than it ever has places for. */
async function crowded() {
	const clock = new VirtualClock();
	const roster = new Roster(2);
	const add = (projectId: string): void => roster.add({ projectId, end() {} } as Actor);
	let rung = 0;
	const storage: Partial<Storage> = {
		capabilities: { manyNodes: false },
		acquireLeases: async (_, limit, projectIds) =>
			(projectIds ?? Array.from({ length: limit }, () => `rung ${++rung}`)).map(
				(projectId): Lease => ({ projectId, generation: 1, expiresAt: 10_000 }),
			),
		nextAlarm: async () => 0,
	};
	const taken: string[] = [];
	const taker = takerOf(storage, {
		clock,
		roster,
		onTaken: ({ projectId }) => {
			taken.push(projectId);
			add(projectId);
		},
	});
	add("a");
	add("b");
	taker.takeRung();
	await taker.whenDone();
	/** Both give their places up for others. */
	const giveBack = async (wakeAt: number | null): Promise<void> => {
		const actors = [...roster.actors.values()];
		for (const actor of actors) roster.drop(actor);
		for (const { projectId } of actors) taker.givenBack(projectId, wakeAt);
		await taker.whenDone();
	};
	return { clock, roster, taker, taken, giveBack };
}

test("of the places that become free, projects that only storage knows of get half", async () => {
	const { taker, taken, giveBack } = await crowded();
	for (const projectId of ["p1", "p2", "p3", "p4"]) taker.poke(projectId);
	expect(taken).toEqual([]);
	await giveBack(null);
	expect(taken).toEqual(["p1", "rung 1"]);
	await giveBack(null);
	expect(taken.slice(2)).toEqual(["p2", "rung 2"]);
});

test("a project that gave its place to another while it had work stands in line again", async () => {
	const { clock, taken, giveBack } = await crowded();
	await giveBack(clock.now());
	expect(taken).toEqual(["a", "rung 1"]);
	await giveBack(clock.now());
	expect(taken.slice(2)).toEqual(["b", "rung 2"]);
});

test("a node that stops takes up nothing more", async () => {
	const { roster, taken, giveBack } = await crowded();
	roster.closing = true;
	await giveBack(null);
	expect(taken).toEqual([]);
});

/** All that waits for nothing else has come to rest. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A taker on a node that does nothing else, except what these parts do. */
function takerOf(
	storage: Partial<Storage>,
	{
		clock = new VirtualClock(),
		disk = clock,
		...options
	}: Partial<Pick<TakerContext, "clock" | "disk"> & LeaseTakerOptions>,
): LeaseTaker {
	return new LeaseTaker(
		{ storage: storage as Storage, clock, disk, logger: silentLogger, leaseTermMs: 10_000 },
		{
			holder: "node",
			roster: new Roster(),
			renewOverdue: async () => {},
			renew: async () => {},
			renewShare: async () => {},
			makeRoom: () => {},
			onTaken: () => {},
			...options,
		},
	);
}
