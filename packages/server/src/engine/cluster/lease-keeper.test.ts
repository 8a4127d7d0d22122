import { VirtualClock } from "@posthorn/testkit";
import { expect, test, vi } from "vitest";
import { PROJECTS } from "../../base/budgets.ts";
import type { Moment } from "../../base/clock.ts";
import { silentLogger } from "../../base/logger.ts";
import type { Lease, Storage } from "../../storage/port.ts";
import type { Actor } from "../actor/actor.ts";
import { LeaseKeeper, type LeaseKeeperOptions, LOOK_MAX_MS } from "./lease-keeper.ts";
import type { Report } from "./peers.ts";
import { OwnedProjects } from "./projects.ts";

const TERM_MS = 10_000;

/** A node with one project, whose renewals return when the test says so. */
function setUp(report: LeaseKeeperOptions["report"] = null, logger = silentLogger) {
	const clock = new VirtualClock();
	const begun = clock.elapsed();
	const owned = new OwnedProjects();
	const lease: Lease = { projectId: "p1", generation: 1, expiresAt: clock.now() + TERM_MS };
	const trustedFrom: number[] = [];
	const renewed = (_: Lease, asked: Moment): void => void trustedFrom.push(asked.elapsed - begun);
	owned.add({ projectId: "p1", lease: { current: lease, renewed }, idleSince: null, end() {} } as unknown as Actor);
	const lapsed: string[] = [];
	const expected: (number | null)[] = [];
	const renewals: {
		readonly at: number;
		readonly leases: number;
		readonly projectIds: readonly string[];
		readonly answer: () => void;
		readonly refuse: () => void;
		readonly lock: () => void;
		readonly fail: () => void;
	}[] = [];
	const releases: { readonly projectId: string; readonly answer: () => void; readonly fail: () => void }[] = [];
	const storage: Partial<Storage> = {
		releaseLease: ({ lease: { projectId } }) =>
			new Promise((resolve, reject) => {
				releases.push({ projectId, answer: resolve, fail: () => reject(new Error("The database is away.")) });
			}),
		renewLeases: ({ leases }) =>
			new Promise((resolve, reject) => {
				renewals.push({
					at: clock.elapsed() - begun,
					leases: leases.length,
					projectIds: leases.map(({ projectId }) => projectId),
					answer: () => resolve({ renewed: [...leases], locked: [] }),
					refuse: () => resolve({ renewed: [], locked: [] }),
					lock: () => resolve({ renewed: [], locked: [...leases] }),
					fail: () => reject(new Error("The database is away.")),
				});
			}),
	};
	const keeper = new LeaseKeeper(
		{ storage: storage as Storage, clock, logger, holder: "node", leaseTermMs: TERM_MS },
		{
			owned,
			report,
			onNextDue: (at) => expected.push(at),
			onLate: null,
			onLapsed: (projectId) => lapsed.push(projectId),
			onReleaseFailed: () => {},
			onReleased: () => {},
		},
	);
	return { clock, keeper, owned, renewals, releases, trustedFrom, lapsed, expected };
}

// Each poll of an idle cluster also reported the node, and counted nodes and projects.
test("a node has a share of at least one project, so it needn't ask for its share to take one", async () => {
	const { keeper, owned } = setUp(async () => ({ fairShare: 0, nextDue: null }));
	await keeper.renewShare();
	expect(owned.share).toBe(1);
});

test("a node that is closing asks for no share", async () => {
	let reports = 0;
	const { keeper, owned } = setUp(async () => {
		reports++;
		return { fairShare: 1, nextDue: null };
	});
	owned.closing = true;
	expect([await keeper.renewShare(), reports]).toEqual([null, 0]);
});

// Each time, the log said that leases were renewed again.
test("failures to renew locked leases are logged once, until they are renewed", async () => {
	const lines: string[] = [];
	const log = (_: object, text: string) => void lines.push(text);
	const { keeper, renewals } = setUp(null, { ...silentLogger, error: log, warn: log });
	const renew = async (...ends: readonly ("lock" | "fail" | "answer")[]) => {
		const renewing = keeper.renew();
		for (const end of ends) {
			await turn();
			renewals.at(-1)![end]();
		}
		await renewing;
		await turn();
	};
	for (let n = 0; n < 3; n++) await renew("lock", "fail");
	expect(lines).toEqual(["failed to renew leases: storage is unavailable"]);
	await renew("lock", "answer");
	expect(lines.slice(1)).toEqual(["leases are renewed again"]);
});

/** A node that reports, and when it did, in milliseconds since its start. Its leases are renewed. */
function reporting(answer: () => Promise<Report> = async () => ({ fairShare: 1, nextDue: null })) {
	const reports: number[] = [];
	const node = setUp(async () => {
		reports.push(clock.elapsed() - begun);
		return answer();
	});
	const { clock, keeper, renewals } = node;
	const begun = clock.elapsed();
	keeper.start();
	const pass = async (terms: number): Promise<void> => {
		for (const end = clock.elapsed() + terms * TERM_MS; clock.elapsed() < end; ) {
			await turn();
			clock.advanceTo(Math.min(end, clock.nextAt ?? end));
			await turn();
			renewals.at(-1)?.answer();
		}
		await turn();
	};
	return { ...node, reports, pass };
}

// Each idle node reported as often as one that renews leases, and polled for work in addition.
test("a node that owns nothing reports half as often, and still more than once per lease duration", async () => {
	const { owned, reports, pass } = reporting();
	await pass(10.1);
	const busy = reports.length;
	expect(busy).toBe(31);
	owned.drop(owned.working("p1")!);
	await pass(10);
	const idle = reports.slice(busy - 1);
	expect(idle).toHaveLength(16);
	for (const [n, at] of idle.slice(1).entries()) expect(at - idle[n]!).toBeLessThan(0.7 * TERM_MS);
});

test("a failed report is repeated after a third of a lease duration, even by a node that owns nothing", async () => {
	let isAway = false;
	const { owned, reports, pass } = reporting(async () => {
		if (isAway) throw new Error("The database is away.");
		return { fairShare: 1, nextDue: null };
	});
	owned.drop(owned.working("p1")!);
	await pass(2);
	isAway = true;
	const before = reports.length;
	await pass(2);
	expect(reports.length - before).toBe(6);
});

test("a node whose report hangs or failed asks for due projects without it", async () => {
	let how: "fails" | "hangs" = "fails";
	const { clock, expected, pass } = reporting(async () => {
		if (how === "hangs") return new Promise(() => {});
		throw new Error("The row is locked.");
	});
	await pass(0.3);
	expect(expected).toHaveLength(1);
	how = "hangs";
	await pass(0.1);
	expect(expected).toHaveLength(1);
	await pass(0.7);
	expect(expected).toHaveLength(3);
	for (const at of expected) expect(at).toBeLessThanOrEqual(clock.now());
});

test("each regular report says when storage next has work", async () => {
	const times = [500, null, 700];
	const { keeper, expected, pass } = reporting(async () => ({ fairShare: 1, nextDue: times.shift() ?? null }));
	await pass(0.3);
	expect(expected).toEqual([500]);
	await pass(0.1);
	expect(expected).toEqual([500, null]);
	// The taker, which asks for the share itself, looks for due projects anyway.
	expect(await keeper.renewShare()).toEqual({ fairShare: 1, nextDue: 700 });
	expect(expected).toEqual([500, null]);
});

// If the older renewal was written last, the lease expired in storage while this node still trusted it because of the
// newer one.
test("an overdue renewal waits for the current one", async () => {
	const { clock, keeper, renewals } = setUp();
	keeper.start();
	clock.advance(TERM_MS / 2);
	await turn();
	expect(renewals).toHaveLength(1);
	clock.advance(TERM_MS);
	let isOver = false;
	const overdue = keeper.renewOverdue().then(() => {
		isOver = true;
	});
	await turn();
	expect(renewals).toHaveLength(1);
	renewals[0]!.answer();
	await turn();
	// The first renewal was requested too long ago to be trusted, so a second one follows.
	expect([renewals.length, renewals[1]?.at, isOver]).toEqual([2, 1.5 * TERM_MS, false]);
	renewals[1]!.answer();
	await overdue;
});

// Whenever this node looked for due projects, it waited for up to two seconds while four projects' rows were locked.
test("a look for due projects doesn't wait for the renewal of locked leases", async () => {
	const { keeper, renewals } = setUp();
	const renewing = keeper.renew();
	await turn();
	renewals[0]!.lock();
	await renewing;
	await turn();
	expect(renewals).toHaveLength(2);
	let isOver = false;
	const overdue = keeper.renewOverdue().then(() => {
		isOver = true;
	});
	await turn();
	expect(isOver).toBe(true);
	renewals[1]!.answer();
	await overdue;
});

test("renewals run one at a time, whichever caller asks for them", async () => {
	const { keeper, renewals } = setUp();
	const both = [keeper.renew(), keeper.renew()];
	await turn();
	expect(renewals).toHaveLength(1);
	renewals[0]!.answer();
	await turn();
	expect(renewals).toHaveLength(2);
	renewals[1]!.answer();
	await Promise.all(both);
});

test("a renewed lease is trusted from the time of the request", async () => {
	const { clock, keeper, renewals, trustedFrom } = setUp();
	const renewal = keeper.renew();
	await turn();
	clock.advance(TERM_MS / 2);
	renewals[0]!.answer();
	await renewal;
	expect(trustedFrom).toEqual([0]);
});

test("a lease whose row was locked is trusted from the request that renewed it", async () => {
	const { clock, keeper, renewals, trustedFrom } = setUp();
	const step = async (end: "lock" | "answer") => {
		clock.advance(100);
		renewals.at(-1)![end]();
		await turn();
	};
	void keeper.renew();
	await turn();
	await step("lock");
	// All of them together …
	await step("answer");
	expect(trustedFrom).toEqual([100]);
	void keeper.renew();
	await turn();
	await step("lock");
	await step("lock");
	// … then one by one.
	await step("answer");
	expect(trustedFrom).toEqual([100, 400]);
});

test("a renewal waits for four locked leases at most, for those that were locked before last, and logs each once", async () => {
	const lines: object[] = [];
	const { keeper, owned, renewals } = setUp(null, { ...silentLogger, warn: (fields) => lines.push(fields) });
	const all = ["p1", "p2", "p3", "p4", "p5", "p6"];
	for (const projectId of all.slice(1)) {
		const lease = { current: { projectId, generation: 1, expiresAt: TERM_MS }, renewed() {} };
		owned.add({ projectId, lease, end() {} } as unknown as Actor);
	}
	const waited = async () => {
		const begun = renewals.length;
		void keeper.renew();
		await turn();
		for (let asked = begun; asked < renewals.length; asked++) {
			renewals[asked]!.lock();
			await turn();
		}
		// All, all that were locked, and then one by one.
		expect(renewals.slice(begun, begun + 2).map(({ projectIds }) => projectIds)).toEqual([all, all]);
		return renewals.slice(begun + 2).flatMap(({ projectIds }) => projectIds);
	};
	expect(await waited()).toEqual(["p1", "p2", "p3", "p4"]);
	expect(await waited()).toEqual(["p5", "p6", "p1", "p2"]);
	expect(lines).toEqual(all.map((projectId) => ({ projectId })));
});

test("the answer about a lease that was replaced meanwhile doesn't concern the one that replaced it", async () => {
	const { keeper, owned, renewals, lapsed } = setUp();
	const renewal = keeper.renew();
	await turn();
	const lease = { current: { projectId: "p1", generation: 2, expiresAt: TERM_MS } };
	Object.assign(owned.working("p1")!, { lease });
	renewals[0]!.refuse();
	await renewal;
	expect([lapsed, owned.isFree("p1")]).toEqual([[], false]);
});

// A retiring actor finishes its attempts, which takes longer than a lease if a receiver is slow.
test("the lease of a project that is being released is renewed, too, until it is lost", async () => {
	const { keeper, owned, renewals, trustedFrom, lapsed } = setUp();
	const actor = owned.working("p1")!;
	Object.assign(actor, { retire: () => new Promise(() => {}) });
	void owned.retire(actor);
	const renewal = keeper.renew();
	await turn();
	renewals[0]!.answer();
	await renewal;
	expect(trustedFrom).toEqual([0]);
	const refused = keeper.renew();
	await turn();
	renewals[1]!.refuse();
	await refused;
	expect([lapsed, owned.isFree("p1")]).toEqual([["p1"], true]);
});

// The dead actor would have prevented the project from being taken again for as long as the node ran.
test("a project whose lease was lost is dropped, and may be taken again", async () => {
	const { keeper, owned, renewals, lapsed } = setUp();
	const actor = owned.working("p1")!;
	const ended = vi.spyOn(actor, "end");
	const renewal = keeper.renew();
	await turn();
	renewals[0]!.refuse();
	await renewal;
	expect([lapsed, owned.isFree("p1")]).toEqual([["p1"], true]);
	expect(ended).toHaveBeenCalledOnce();
});

test("makes room by releasing the longest idle project first", () => {
	const { keeper, owned } = setUp();
	const retired: string[] = [];
	for (const [projectId, idleSince] of [
		["late", 300],
		["early", 100],
		["between", 200],
	] as const) {
		const retire = () => {
			retired.push(projectId);
			return new Promise(() => {});
		};
		owned.add({ projectId, idleSince, retire, end() {} } as unknown as Actor);
	}
	keeper.makeRoom(2);
	expect(retired).toEqual(["early", "between"]);
});

// 10,000 leases renewed in one statement once kept SQLite's writer, and everyone's events, waiting for 28 ms.
test("renews many leases in steps, each trusted from its own request", async () => {
	const { clock, keeper, owned, renewals, trustedFrom } = setUp();
	for (let n = 0; n < 2 * PROJECTS.leasesPerStep; n++) {
		const projectId = `more_${n}`;
		const lease: Lease = { projectId, generation: 1, expiresAt: clock.now() + TERM_MS };
		const renewed = (_: Lease, { elapsed }: Moment) => trustedFrom.push(elapsed);
		owned.add({ projectId, lease: { current: lease, renewed } } as never);
	}
	const renewal = keeper.renew();
	const begun = clock.elapsed();
	for (const sent of [1, 2, 3]) {
		await turn();
		expect(renewals).toHaveLength(sent);
		clock.advance(1_000);
		renewals[sent - 1]!.answer();
	}
	expect((await renewal).elapsed).toBe(begun);
	expect(renewals.map(({ leases }) => leases)).toEqual([PROJECTS.leasesPerStep, PROJECTS.leasesPerStep, 1]);
	expect(trustedFrom.at(-1)! - begun).toBe(2_000);
});

/** Replaces the node's project by this many. @returns their ids, and a switch for whether their leases are trusted */
function ownMany(owned: OwnedProjects, count: number) {
	owned.drop(owned.working("p1")!);
	const leases = { isTrusted: true, isSuspended: false };
	const all = Array.from({ length: count }, (_, n) => `p_${n}`);
	for (const projectId of all) {
		const current = { projectId, generation: 1, expiresAt: TERM_MS };
		const lease = Object.assign(Object.create(leases), { current, renewed() {} });
		const retire = async () => ({ seen: { lastSeq: 0, revision: 0 }, handover: null });
		owned.add({ projectId, lease, retire, wakeAt: null, end() {} } as unknown as Actor);
	}
	return { all, leases };
}

// A node that stopped with 10,000 projects left 1,700 leases to expire: their releases waited too long for a connection.
test("releases a few leases at a time, and renews the others until it is their turn", async () => {
	const { keeper, owned, renewals, releases } = setUp();
	const { all } = ownMany(owned, 2 * PROJECTS.releases + 1);
	const stopping = keeper.stop();
	await turn();
	expect(releases).toHaveLength(PROJECTS.releases);
	const renewal = keeper.renew();
	await turn();
	expect(renewals[0]!.leases).toBe(PROJECTS.releases + 1);
	renewals[0]!.answer();
	await renewal;
	for (let answered = 0; answered < all.length; answered++) {
		releases[answered]!.answer();
		await turn();
		expect(releases.length).toBe(Math.min(all.length, answered + 1 + PROJECTS.releases));
	}
	await stopping;
	expect(releases.map(({ projectId }) => projectId)).toEqual(all);
});

// Each of 10,000 releases waited five seconds for a connection, a few at a time: for almost half an hour.
test("leaves leases to expire that have ended before their turn, so that it stops without the database", async () => {
	const { keeper, owned, releases } = setUp();
	const { leases } = ownMany(owned, 3 * PROJECTS.releases);
	const stopping = keeper.stop();
	await turn();
	leases.isTrusted = false;
	// After a failover, the database still has the lease.
	leases.isSuspended = true;
	releases[0]!.fail();
	await turn();
	expect(releases).toHaveLength(PROJECTS.releases + 1);
	leases.isSuspended = false;
	for (const { fail } of releases) fail();
	await turn();
	expect(releases).toHaveLength(PROJECTS.releases + 1);
	expect(owned.actors.size).toBe(0);
	await stopping;
});

// Each release asks for room. Looking at all projects each time took a third of the event loop.
test("looks at all projects for room only now and then", () => {
	const { clock, keeper, owned } = setUp();
	let looks = 0;
	for (let n = 0; n < 100; n++) {
		const retire = () => new Promise(() => {});
		owned.add({
			projectId: `idle_${n}`,
			retire,
			get idleSince() {
				looks++;
				return n;
			},
		} as never);
	}
	for (let n = 0; n < 50; n++) keeper.makeRoom(1);
	expect(looks).toBe(150);
	expect(owned.room(101)).toBe(50);
	clock.advance(LOOK_MAX_MS);
	keeper.makeRoom(1);
	expect(looks).toBe(201);
});

test("a project that works makes room only after its quantum, and only if it still owns its lease", () => {
	const { clock, keeper, owned } = setUp();
	const retired: string[] = [];
	const works = (projectId: string) => {
		const retire = () => {
			retired.push(projectId);
			return new Promise(() => {});
		};
		return { projectId, idleSince: null, takenAt: clock.elapsed(), retire, end() {} } as unknown as Actor;
	};
	const [gone, first] = [works("gone"), works("first")];
	owned.add(gone);
	owned.add(first);
	clock.advance(PROJECTS.quantumMs - 1);
	owned.add(works("second"));
	keeper.makeRoom(3);
	expect(retired).toEqual([]);
	clock.advance(LOOK_MAX_MS);
	keeper.makeRoom(0);
	owned.drop(gone);
	keeper.makeRoom(3);
	expect(retired).toEqual(["first"]);
});

// It counted twice, and a waiting project got no room.
test("a project that is being released makes no room a second time", () => {
	const { clock, keeper, owned } = setUp();
	const retired: string[] = [];
	for (const projectId of ["leaving", "staying"]) {
		const retire = () => {
			retired.push(projectId);
			return new Promise(() => {});
		};
		owned.add({ projectId, idleSince: null, takenAt: clock.elapsed(), retire, end() {} } as unknown as Actor);
		clock.advance(1);
	}
	clock.advance(PROJECTS.quantumMs);
	keeper.makeRoom(0);
	void owned.retire(owned.working("leaving")!);
	keeper.makeRoom(1);
	expect(retired).toEqual(["leaving", "staying"]);
});

/** Resolves when everything that can settle now has settled. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
