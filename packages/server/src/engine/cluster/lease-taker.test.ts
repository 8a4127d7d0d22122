import { VirtualClock } from "@posthorn/testkit";
import { expect, test } from "vitest";
import type { Moment } from "../../base/clock.ts";
import { silentLogger } from "../../base/logger.ts";
import type { Lease, PeerStorage, Storage } from "../../storage/port.ts";
import type { Actor } from "../actor/actor.ts";
import { LeaseTaker, type LeaseTakerOptions, type TakerContext } from "./lease-taker.ts";
import { OwnedProjects } from "./projects.ts";

/** Of a database that other nodes may share. */
const SHARED = {} as PeerStorage;

// The leaving node's projects stayed idle until this node's next renewal found that there were fewer nodes.
test("a node at its share recalculates it before it leaves due projects to others", async () => {
	const due = ["p1", "p2", "p3", "p4", "p5"];
	const owned = new OwnedProjects();
	owned.share = 2;
	const storage: Partial<Storage> = {
		peers: SHARED,
		acquireLeases: async ({ limit }) =>
			due.splice(0, limit).map((projectId): Lease => ({ projectId, generation: 1, expiresAt: 10_000 })),
		nextAlarm: async () => null,
	};
	const shares = [4, 5];
	const taker = takerOf(storage, {
		owned,
		keeper: {
			renewShare: async () => {
				owned.share = shares.shift()!;
				return null;
			},
		},
		onTaken: ({ projectId }) => owned.add({ projectId, end() {} } as Actor),
	});
	taker.takeDue();
	await taker.whenDone();
	expect([...owned.actors.keys()]).toEqual(["p1", "p2", "p3", "p4"]);
	taker.takeDue();
	await taker.whenDone();
	expect(owned.actors.size).toBe(5);
	expect([due, shares]).toEqual([[], []]);
});

// If trust began at the response, it would outlast the lease in storage.
test("a lease counts from its request, however long the response takes", async () => {
	const clock = new VirtualClock();
	const storage: Partial<Storage> = {
		peers: null,
		acquireLeases: async ({ projectIds = [] }) => {
			clock.advance(5_000);
			return projectIds.map((projectId): Lease => ({ projectId, generation: 1, expiresAt: 10_000 }));
		},
		nextAlarm: async () => null,
	};
	const taken: Moment[] = [];
	const owned = new OwnedProjects();
	const before = { now: clock.now(), elapsed: clock.elapsed() };
	const taker = takerOf(storage, {
		clock,
		owned,
		onTaken: (_, asked) => taken.push(asked),
	});
	taker.poke("p1");
	await taker.whenDone();
	expect(taken).toEqual([before]);
});

// After an epoch change, failing storage was once asked again in a loop without a pause.
test("waits a second after a storage failure before asking again", async () => {
	const clock = new VirtualClock();
	const asked: unknown[] = [];
	const storage: Partial<Storage> = {
		peers: SHARED,
		acquireLeases: async ({ projectIds, heldBefore }) => {
			asked.push([projectIds, heldBefore]);
			throw new Error("The database is away.");
		},
		nextAlarm: async () => null,
	};
	const taker = takerOf(storage, { clock, disk: clock });
	taker.takeAgain(["p1"]);
	for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
	expect(asked).toEqual([[["p1"], true]]);
	clock.advance(1_000);
	await taker.whenDone();
	expect(asked).toEqual([
		[["p1"], true],
		[["p1"], true],
	]);
});

// Storage would hand out this node's own leases as ended ones, under running actors.
test("asks for due projects only once overdue leases are renewed, until a call finds fewer than it might", async () => {
	const done: string[] = [];
	const found = [200, 200, 3];
	const storage: Partial<Storage> = {
		peers: SHARED,
		acquireLeases: async ({ limit }) => {
			done.push(`ask for ${limit}`);
			return Array.from({ length: found.shift() ?? 0 }, (_, n): Lease => {
				return { projectId: `p${found.length}_${n}`, generation: 1, expiresAt: 10_000 };
			});
		},
		nextAlarm: async () => null,
	};
	const owned = new OwnedProjects();
	const renewOverdue = async () => void done.push("renew");
	const onTaken = ({ projectId }: Lease) => owned.add({ projectId, end() {} } as Actor);
	const taker = takerOf(storage, { owned, keeper: { renewOverdue }, onTaken });
	taker.takeDue();
	await taker.whenDone();
	expect(done).toEqual(["renew", "ask for 200", "ask for 200", "ask for 200"]);
	expect(owned.actors.size).toBe(403);
});

test("looks again if it learns of due projects while it reads the next alarm", async () => {
	const alarm = Promise.withResolvers<null>();
	let asked = 0;
	const storage: Partial<Storage> = {
		peers: SHARED,
		acquireLeases: async () => {
			asked++;
			return [];
		},
		nextAlarm: () => alarm.promise,
	};
	const taker = takerOf(storage, {});
	taker.takeDue();
	await turn();
	taker.takeDue();
	expect(asked).toBe(1);
	alarm.resolve(null);
	await turn();
	expect(asked).toBe(2);
});

// It waited for the next poll, a second later.
test("room is made for a project that is poked after the next alarm was read", async () => {
	const owned = new OwnedProjects(1);
	owned.add({ projectId: "p1", end() {} } as Actor);
	const alarms = [Promise.withResolvers<number | null>(), Promise.withResolvers<number | null>()];
	const reads = [...alarms];
	const made: number[] = [];
	const storage: Partial<Storage> = {
		peers: null,
		acquireLeases: async () => [],
		nextAlarm: () => reads.shift()!.promise,
	};
	const taker = takerOf(storage, { owned, keeper: { makeRoom: (count) => void made.push(count) } });
	taker.takeDue();
	await turn();
	taker.poke("p2");
	alarms[0]!.resolve(null);
	alarms[1]!.resolve(0);
	await turn();
	expect(made).toEqual([1]);
	expect(reads).toEqual([]);
	taker.sleep();
});

// For each event of another node's project, a full node released one of its own, even a busy one.
test("no room is made for a project that another node owns", async () => {
	const owned = new OwnedProjects(1);
	owned.add({ projectId: "p1", end() {} } as Actor);
	let made = 0;
	let reads = 0;
	const storage: Partial<Storage> = {
		peers: SHARED,
		acquireLeases: async () => [],
		nextAlarm: async () => {
			reads++;
			return null;
		},
	};
	const taker = takerOf(storage, { owned, keeper: { makeRoom: () => void made++ } });
	taker.poke("p2");
	await turn();
	taker.poke("p2");
	await turn();
	expect([made, reads]).toEqual([0, 2]);
});

test("a node that has the database to itself looks at least once a minute", async () => {
	const clock = new VirtualClock();
	const begun = clock.elapsed();
	const asked: number[] = [];
	const storage: Partial<Storage> = {
		peers: null,
		acquireLeases: async () => {
			asked.push(clock.elapsed() - begun);
			return [];
		},
		// An alarm on a clock that may be set meanwhile.
		nextAlarm: async () => clock.now() + 3_600_000,
	};
	const taker = takerOf(storage, { clock });
	taker.takeDue();
	await taker.whenDone();
	for (let n = 0; n < 2; n++) {
		clock.advance(60_000);
		await taker.whenDone();
	}
	expect(asked).toEqual([0, 60_000, 120_000]);
	taker.sleep();
});

// A project whose row was briefly locked once counted as another node's for a second, while no node ran it.
test("retries a lease whose row is locked, without assuming that another node owns the project", async () => {
	const disk = new VirtualClock();
	const asked: (readonly string[])[] = [];
	let isLocked = true;
	const storage: Partial<Storage> = {
		peers: SHARED,
		acquireLeases: async ({ projectIds = [], onLocked }) => {
			asked.push(projectIds);
			const free = projectIds.filter((projectId) => projectId !== "held" || !isLocked);
			const locked = projectIds.filter((projectId) => !free.includes(projectId));
			if (locked.length > 0) onLocked?.(locked);
			return free.map((projectId): Lease => ({ projectId, generation: 1, expiresAt: 10_000 }));
		},
		nextAlarm: async () => null,
	};
	const owned = new OwnedProjects();
	const taker = takerOf(storage, {
		disk,
		owned,
		onTaken: ({ projectId }) => owned.add({ projectId, end() {} } as Actor),
	});
	const begun = disk.elapsed();
	taker.poke("held");
	await taker.whenDone();
	// However often it and other projects are poked meanwhile.
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
	expect([...owned.actors.keys()]).toEqual(["free", "held"]);
	expect(disk.nextAt).toBeNull();
});

// The retry counted as an ordinary one, and a test event waited for another project's turn to end.
test("a user's request keeps its reserved capacity while its project's row is locked", async () => {
	for (const pokes of [["requested"], ["ordinary", "requested"]]) {
		const disk = new VirtualClock();
		let isLocked = true;
		const owned = new OwnedProjects(1);
		const storage: Partial<Storage> = {
			peers: SHARED,
			acquireLeases: async ({ projectIds = [], onLocked }) => {
				if (isLocked) onLocked?.(projectIds);
				return isLocked ? [] : projectIds.map((projectId): Lease => ({ projectId, generation: 1, expiresAt: 10_000 }));
			},
			nextAlarm: async () => null,
		};
		const taker = takerOf(storage, {
			disk,
			owned,
			onTaken: ({ projectId }) => owned.add({ projectId, end() {} } as Actor),
		});
		for (const how of pokes) {
			if (how === "requested") taker.pokeRequested("p1");
			else taker.poke("p1");
			await taker.whenDone();
		}
		// Another project takes the last room meanwhile.
		owned.add({ projectId: "busy", end() {} } as Actor);
		isLocked = false;
		disk.advanceTo(disk.nextAt!);
		await taker.whenDone();
		expect([...owned.actors.keys()]).toEqual(["busy", "p1"]);
	}
});

/** Storage with one locked row, "locked", whose calls return when the test says so. */
function heldStorage() {
	const calls: { readonly projectIds: readonly string[]; readonly heldBefore: boolean; readonly answer: () => void }[] =
		[];
	const storage: Partial<Storage> = {
		peers: null,
		acquireLeases: ({ projectIds = [], heldBefore = false, onLocked }) =>
			new Promise((resolve) => {
				const answer = (): void => {
					if (projectIds.includes("locked")) onLocked?.(["locked"]);
					resolve([]);
				};
				calls.push({ projectIds, heldBefore, answer });
			}),
		nextAlarm: async () => null,
	};
	/** Answers every call until none follows. */
	const answerAll = async (): Promise<void> => {
		for (let answered = calls.length - 1; answered < calls.length; answered++) {
			calls[answered]?.answer();
			await turn();
		}
	};
	return { calls, storage, answerAll };
}

// After an epoch change, the retry replaced the list of the others: their projects waited for their leases to expire.
test("a retry of one locked lease leaves the other projects of the epoch in the list", async () => {
	const disk = new VirtualClock();
	const { calls, storage, answerAll } = heldStorage();
	const taker = takerOf(storage, { disk });
	const held = ["locked", ...Array.from({ length: 599 }, (_, n) => `p${n}`)];
	taker.takeAgain(held);
	calls[0]!.answer();
	await turn();
	disk.advanceTo(disk.nextAt!);
	await answerAll();
	await taker.whenDone();
	const asked = calls.filter(({ heldBefore }) => heldBefore).flatMap(({ projectIds }) => projectIds);
	expect(new Set(asked)).toEqual(new Set(held));
	expect(asked.filter((projectId) => projectId === "locked")).toHaveLength(2);
});

test("takes projects of a newer epoch even while those of the previous one are being taken", async () => {
	const { calls, storage, answerAll } = heldStorage();
	const taker = takerOf(storage, {});
	taker.takeAgain(["p1"]);
	taker.takeAgain(["p1", "p2"]);
	await answerAll();
	await taker.whenDone();
	expect(calls.slice(0, 2).map(({ projectIds }) => projectIds)).toEqual([["p1"], ["p1", "p2"]]);
});

// This node may not have held the project when the newer epoch began, so another node may run it.
test("a retry of a locked lease claims nothing once a newer epoch has begun", async () => {
	const disk = new VirtualClock();
	const { calls, storage, answerAll } = heldStorage();
	const taker = takerOf(storage, { disk });
	taker.takeAgain(["locked"]);
	await answerAll();
	taker.takeAgain([]);
	await answerAll();
	disk.advanceTo(disk.nextAt!);
	await answerAll();
	const named = calls.filter(({ projectIds }) => projectIds.length > 0);
	expect(named.map(({ projectIds, heldBefore }) => [projectIds, heldBefore])).toEqual([
		[["locked"], true],
		[["locked"], false],
	]);
	taker.sleep();
});

// Storage would hand out its lease again, to a second actor alongside the first.
test("does not ask for projects of the epoch that it has taken meanwhile", async () => {
	const { calls, storage, answerAll } = heldStorage();
	const owned = new OwnedProjects();
	const taker = takerOf(storage, { owned });
	owned.add({ projectId: "p1", end() {} } as Actor);
	taker.takeAgain(["p1", "p2"]);
	await answerAll();
	expect(calls[0]!.projectIds).toEqual(["p2"]);
});

// The retry poked a project that this node owned, so that it was taken again after its release.
test("a lease taken because it was due is not retried", async () => {
	const disk = new VirtualClock();
	const storage: Partial<Storage> = {
		peers: SHARED,
		acquireLeases: async ({ projectIds, onLocked }) => {
			if (projectIds) onLocked?.(projectIds);
			return projectIds ? [] : [{ projectId: "p1", generation: 1, expiresAt: 10_000 }];
		},
		nextAlarm: async () => null,
	};
	const taker = takerOf(storage, { disk, clock: new VirtualClock() });
	taker.poke("p1");
	await taker.whenDone();
	expect(disk.nextAt).not.toBeNull();
	taker.takeDue();
	await taker.whenDone();
	expect(disk.nextAt).toBeNull();
});

// Expiring leases weren't polled for until another project's next alarm, possibly hours later.
test("polls for leases left to run out, even while the next alarm is being read", async () => {
	const clock = new VirtualClock();
	const begun = clock.elapsed();
	const asked: number[] = [];
	const alarm = Promise.withResolvers<null>();
	const storage: Partial<Storage> = {
		peers: null,
		acquireLeases: async () => {
			asked.push(clock.elapsed() - begun);
			return [];
		},
		nextAlarm: () => alarm.promise,
	};
	const taker = takerOf(storage, { clock, disk: clock });
	taker.takeDue();
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

// A project released at that moment waited for the next alarm that storage had returned earlier.
test("does not miss the alarm of a project released while the next alarm is being read", async () => {
	const clock = new VirtualClock();
	const begun = clock.elapsed();
	const asked: number[] = [];
	const alarms = [Promise.withResolvers<null>(), Promise.withResolvers<null>()];
	let looks = 0;
	const storage: Partial<Storage> = {
		peers: null,
		acquireLeases: async () => {
			asked.push(clock.elapsed() - begun);
			return [];
		},
		nextAlarm: () => alarms[Math.min(looks++, 1)]!.promise,
	};
	const taker = takerOf(storage, { clock, disk: clock });
	taker.takeDue();
	await turn();
	taker.released("p1", clock.now() + 5_000);
	alarms[0]!.resolve(null);
	await taker.whenDone();
	clock.advance(5_000);
	await turn();
	expect(asked).toEqual([0, 5_000]);
	alarms[1]!.resolve(null);
	await taker.whenDone();
});

// It waited until another project was released.
test("a project in which a user requests something while it is being released is taken next", async () => {
	const { calls, storage, answerAll } = heldStorage();
	const owned = new OwnedProjects(1);
	const taker = takerOf(storage, { owned });
	const leaving = { projectId: "p1", end() {} } as Actor;
	owned.add(leaving);
	const release = Promise.withResolvers<void>();
	const left = owned.leave(leaving, () => release.promise);
	owned.add({ projectId: "busy", end() {} } as Actor);
	taker.pokeRequested("p1");
	await answerAll();
	expect(calls).toEqual([]);
	release.resolve();
	await left;
	taker.released("p1", null);
	await answerAll();
	await taker.whenDone();
	expect(calls[0]!.projectIds).toEqual(["p1"]);
});

/** A taker on one of several nodes, and when it asked for due projects, in milliseconds since the first call. */
function sharing(nextAlarm: () => number | null = () => null, nextEnd?: () => number | null) {
	const clock = new VirtualClock();
	const begun = clock.elapsed();
	const asked: number[] = [];
	const storage: Partial<Storage> = {
		peers: SHARED,
		acquireLeases: async () => {
			asked.push(clock.elapsed() - begun);
			return [];
		},
		nextAlarm: async () => nextAlarm(),
	};
	const taker = takerOf(storage, { clock, ...(nextEnd && { nextEnd: async () => nextEnd() }) });
	const pass = async (ms: number): Promise<void> => {
		for (const end = clock.elapsed() + ms; clock.elapsed() < end; ) {
			await taker.whenDone();
			clock.advanceTo(Math.min(end, clock.nextAt ?? end));
		}
		await taker.whenDone();
	};
	return { clock, taker, asked, pass };
}

// Each idle node once polled several times a minute, so eight nodes made the database work half as much again as one.
test("a node that shares the database asks for due projects only when there may be some", async () => {
	const { clock, taker, asked, pass } = sharing();
	taker.takeDue();
	await pass(600_000);
	expect(asked).toEqual([0]);
	// As its reports say while other nodes renew their leases.
	for (let n = 0; n < 10; n++) {
		taker.expect(clock.now() + 7_000);
		await pass(6_000);
	}
	expect(asked).toEqual([0]);
	await pass(60_000);
	expect(asked).toEqual([0, 661_000]);
	taker.expect(clock.now() - 1);
	await pass(1);
	expect(asked).toHaveLength(3);
	taker.expect(clock.now() + 1_000);
	taker.expect(null);
	await pass(60_000);
	expect(asked).toHaveLength(3);
});

test("asks once for an alarm that it knows of and its report names, too", async () => {
	let alarm: number | null = null;
	const { clock, taker, asked, pass } = sharing(() => alarm);
	alarm = clock.now() + 5_000;
	taker.takeDue();
	await taker.whenDone();
	taker.expect(alarm);
	alarm = null;
	await pass(60_000);
	expect(asked).toEqual([0, 5_000]);
});

// A poll for an alarm, or for the first lease that ended, learned nothing of later ends: they waited for the next report.
test("asks when each lease has ended, even if an alarm or another end comes first", async () => {
	let [alarm, ends]: [number | null, number[]] = [null, []];
	const { clock, taker, asked, pass } = sharing(
		() => alarm,
		() => ends.find((end) => end > clock.now()) ?? null,
	);
	const begun = clock.now();
	ends = [begun + 7_000, begun + 8_000];
	taker.expect(begun + 2_000);
	await pass(60_000);
	expect(asked).toEqual([2_000, 7_000, 8_000]);
	// Known from a poll, and taken by another node since.
	alarm = begun + 65_000;
	taker.takeDue();
	await taker.whenDone();
	alarm = null;
	ends = [begun + 67_000];
	taker.expect(begun + 67_000);
	await pass(60_000);
	expect(asked.slice(3)).toEqual([60_000, 65_000, 67_000]);
	// Renewed meanwhile.
	ends = [begun + 125_000];
	taker.takeDue();
	await taker.whenDone();
	ends = [begun + 130_000];
	taker.expect(begun + 130_000);
	await pass(9_000);
	expect(asked.slice(6)).toEqual([120_000]);
	taker.sleep();
});

// Compared by the wall clock, everything came later than the next known alarm, and a killed node's projects waited for it.
test("a clock that is set doesn't keep a node from asking when a lease has ended", async () => {
	let alarm: number | null = null;
	const { clock, taker, asked, pass } = sharing(() => alarm);
	alarm = clock.now() + 50_000;
	taker.takeDue();
	await taker.whenDone();
	clock.set(clock.now() + 3_600_000);
	taker.expect(clock.now() + 7_000);
	await pass(7_000);
	expect(asked).toEqual([0, 7_000]);
	taker.sleep();
});

test("a stopped node expects nothing", async () => {
	const { clock, taker, asked, pass } = sharing();
	taker.expect(clock.now() + 1_000);
	taker.sleep();
	await pass(10_000);
	expect(asked).toEqual([]);
});

/** A node with room for one project, which has just found another node to own "p1". */
async function metOwner() {
	const clock = new VirtualClock();
	const owned = new OwnedProjects(1);
	const asked: (readonly string[])[] = [];
	const storage: Partial<Storage> = {
		peers: SHARED,
		acquireLeases: async ({ projectIds = [] }) => {
			asked.push(projectIds);
			return [];
		},
		nextAlarm: async () => null,
	};
	const taker = takerOf(storage, { clock, owned });
	taker.poke("p1");
	await taker.whenDone();
	const pass = async (ms: number): Promise<void> => {
		clock.advance(ms);
		await taker.whenDone();
	};
	return { owned, taker, asked, pass };
}

test("a poke of a project that another node was found to own is repeated a second later", async () => {
	const { taker, asked, pass } = await metOwner();
	await pass(5_000);
	expect(asked).toEqual([["p1"]]);
	for (let n = 0; n < 3; n++) taker.poke("p1");
	await taker.whenDone();
	expect(asked).toEqual([["p1"], ["p1"]]);
	for (let n = 0; n < 3; n++) taker.poke("p1");
	await pass(999);
	expect(asked).toHaveLength(2);
	await pass(1);
	expect(asked).toEqual([["p1"], ["p1"], ["p1"]]);
	await pass(5_000);
	expect(asked).toHaveLength(3);
});

test("a user's request in such a project keeps its reserved capacity", async () => {
	const { owned, taker, asked, pass } = await metOwner();
	taker.poke("p1");
	taker.pokeRequested("p1");
	owned.add({ projectId: "busy", end() {} } as Actor);
	await pass(1_000);
	expect(asked).toEqual([["p1"], ["p1"]]);
});

test("such a project is not taken again after its release if this node owned it by then", async () => {
	const { owned, taker, asked, pass } = await metOwner();
	taker.poke("p1");
	const actor = { projectId: "p1", end() {} } as Actor;
	owned.add(actor);
	await pass(1_000);
	owned.drop(actor);
	taker.released("p1", null);
	await taker.whenDone();
	expect(asked).toEqual([["p1"]]);
});

/** A node that may own two projects and owns "a" and "b", with more due projects than it can ever take. */
async function crowded() {
	const clock = new VirtualClock();
	const owned = new OwnedProjects(2);
	const add = (projectId: string): void => owned.add({ projectId, end() {} } as Actor);
	let due = 0;
	const storage: Partial<Storage> = {
		peers: null,
		acquireLeases: async ({ limit, projectIds }) =>
			(projectIds ?? Array.from({ length: limit }, () => `due ${++due}`)).map(
				(projectId): Lease => ({ projectId, generation: 1, expiresAt: 10_000 }),
			),
		nextAlarm: async () => 0,
	};
	const taken: string[] = [];
	const taker = takerOf(storage, {
		clock,
		owned,
		onTaken: ({ projectId }) => {
			taken.push(projectId);
			add(projectId);
		},
	});
	add("a");
	add("b");
	taker.takeDue();
	await taker.whenDone();
	/** Releases both projects. */
	const release = async (wakeAt: number | null): Promise<void> => {
		const actors = [...owned.actors.values()];
		for (const actor of actors) owned.drop(actor);
		for (const { projectId } of actors) taker.released(projectId, wakeAt);
		await taker.whenDone();
	};
	return { clock, owned, taker, taken, release };
}

test("projects that only storage knows of get half of the places that become free", async () => {
	const { taker, taken, release } = await crowded();
	for (const projectId of ["p1", "p2", "p3", "p4"]) taker.poke(projectId);
	expect(taken).toEqual([]);
	await release(null);
	expect(taken).toEqual(["p1", "due 1"]);
	await release(null);
	expect(taken.slice(2)).toEqual(["p2", "due 2"]);
});

test("a project released with work left queues again", async () => {
	const { clock, taken, release } = await crowded();
	await release(clock.now());
	expect(taken).toEqual(["a", "due 1"]);
	await release(clock.now());
	expect(taken.slice(2)).toEqual(["b", "due 2"]);
});

test("a stopping node takes no more projects", async () => {
	const { owned, taken, release } = await crowded();
	owned.closing = true;
	await release(null);
	expect(taken).toEqual([]);
});

/** Resolves when everything that can settle now has settled. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A taker on a node whose other parts do nothing, except for those given. */
function takerOf(
	storage: Partial<Storage>,
	{
		clock = new VirtualClock(),
		disk = clock,
		keeper = {},
		...options
	}: Partial<Pick<TakerContext, "clock" | "disk"> & Omit<LeaseTakerOptions, "keeper">> & {
		readonly keeper?: Partial<LeaseTakerOptions["keeper"]>;
	},
): LeaseTaker {
	return new LeaseTaker(
		{ storage: storage as Storage, clock, disk, logger: silentLogger, holder: "node", leaseTermMs: 10_000 },
		{
			owned: new OwnedProjects(),
			keeper: {
				renewOverdue: async () => {},
				renew: async () => ({ now: 0, elapsed: 0 }),
				renewShare: async () => null,
				makeRoom: () => {},
				...keeper,
			},
			onTaken: () => {},
			...options,
		},
	);
}
