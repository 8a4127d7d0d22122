import { VirtualClock } from "@posthorn/testkit/virtual-clock";
import { expect, test } from "vitest";
import { until } from "../../../../testkit/src/until.ts";
import { COMMITS } from "../../base/budgets.ts";
import { systemClock } from "../../base/clock.ts";
import { silentLogger } from "../../base/logger.ts";
import { type Params, type Settlement, StorageError, type Verdict } from "../../storage/port.ts";
import { type SettleResult, Settler } from "./settler.ts";

const isRefused = ({ projectId }: Settlement): boolean => projectId === "refused";

const outcomeOf = (projectId: string, done: (result: SettleResult) => void = () => undefined) => ({
	lease: { projectId, generation: 1 },
	attempt: null,
	schedule: null,
	unschedule: null,
	lane: null,
	done,
});

/** Rejects every batch with outcomes of the project `refused`. */
class Storage {
	/** The projects of each call. */
	readonly calls: string[] = [];
	/** How often it fails before it takes the next batch. */
	outage = 0;
	/** How often it fails after each rejection. */
	outageAfterRefusal = 0;
	closed = false;

	async settle({ settlements }: Params<"settle">): Promise<("settled" | "stale")[]> {
		this.calls.push(settlements.map(({ projectId }) => projectId).join(" "));
		if (this.closed) throw new StorageError("closed", "The storage is closed.");
		if (this.outage > 0) {
			this.outage -= 1;
			throw new StorageError("lost", "The connection was reset.");
		}
		if (!settlements.some(isRefused)) return settlements.map(() => "settled");
		this.outage = this.outageAfterRefusal;
		throw new Error("There is no such webhook.");
	}
}

/** Settles these projects' outcomes as one batch. Resolves with each result, advancing the clock through outages. */
async function settle(storage: Storage, projects: readonly string[]): Promise<Record<string, SettleResult>> {
	const clock = new VirtualClock();
	const settler = new Settler(storage, clock, systemClock, silentLogger);
	const results: Record<string, SettleResult> = {};
	// Items added while the first one is committed share a batch.
	for (const projectId of ["first", ...projects])
		settler.add({
			lease: { projectId, generation: 1 },
			attempt: null,
			schedule: null,
			unschedule: null,
			lane: null,
			done: (result) => {
				results[projectId] = result;
			},
		});
	let drained = false;
	const draining = settler.drain().then(() => {
		drained = true;
	});
	await until("the settler to drain", () => {
		if (!drained && clock.nextAt !== null) clock.advanceTo(clock.nextAt);
		return drained;
	});
	await draining;
	delete results.first;
	expect(storage.calls.splice(0, 2)).toEqual(["first", projects.join(" ")]);
	return results;
}

test("outcomes that storage rejects don't delay others", async () => {
	const storage = new Storage();
	expect(await settle(storage, ["a", "refused", "b"])).toEqual({ a: "settled", refused: "refused", b: "settled" });
	expect(storage.calls).toEqual(["a refused", "a", "refused", "b"]);
});

test("if storage goes away after a rejection, the other outcomes wait for it", async () => {
	// They were once all discarded, and their events sent again.
	const storage = new Storage();
	storage.outageAfterRefusal = 3;
	expect(await settle(storage, ["refused", "a", "b"])).toEqual({ refused: "refused", a: "settled", b: "settled" });
});

test("outcomes wait together during an outage", async () => {
	const storage = new Storage();
	const outcomes = settle(storage, ["a", "b"]);
	storage.outage = 4;
	expect(await outcomes).toEqual({ a: "settled", b: "settled" });
	expect(storage.calls).toEqual(["a b", "a b", "a b", "a b"]);
});

test("once storage is closed, unwritten outcomes are left to the projects' next owners", async () => {
	const storage = new Storage();
	const outcomes = settle(storage, ["a", "b"]);
	storage.closed = true;
	expect(await outcomes).toEqual({ a: "stale", b: "stale" });
	expect(storage.calls).toEqual([]);
});

/** Storage that is unavailable, and projects whose rows are locked or damaged, until a test says otherwise. */
class HeldStorage {
	isAway = false;
	readonly locked = new Set<string>();
	readonly damaged = new Set<string>();
	calls = 0;

	async settle({ settlements }: Params<"settle">): Promise<Verdict[]> {
		this.calls += 1;
		if (this.isAway) throw new StorageError("lost", "The connection was reset.");
		if (settlements.some(({ projectId }) => this.damaged.has(projectId)))
			throw new StorageError("unusable", "A page is damaged.");
		return settlements.map(({ projectId }) => (this.locked.has(projectId) ? "locked" : "settled"));
	}
}

function held() {
	const clock = new VirtualClock();
	const storage = new HeldStorage();
	const lines: object[] = [];
	const error = (fields: object): void => void lines.push(fields);
	const settler = new Settler(storage, clock, clock, { ...silentLogger, error });
	return {
		storage,
		settler,
		/** The fields of lines that report an error. */
		lines,
		/** Advances the clock by this much and runs everything that becomes due. */
		async pass(ms: number): Promise<void> {
			const until = clock.elapsed() + ms;
			for (;;) {
				await new Promise((resolve) => setImmediate(resolve));
				if (clock.nextAt === null || clock.nextAt > until) break;
				clock.advanceTo(clock.nextAt);
			}
			clock.advanceTo(until);
		},
	};
}

// Each try logged a stack trace, twelve a minute for each commit that waited.
test("an outage is logged when it begins, at growing intervals, and when it ends", async () => {
	const clock = new VirtualClock();
	const storage = new HeldStorage();
	const lines: string[] = [];
	const log = (_fields: object, message: string): void => void lines.push(message);
	const settler = new Settler(storage, clock, clock, { ...silentLogger, warn: log, error: log });
	storage.isAway = true;
	settler.add(outcomeOf("a"));
	for (let n = 0; n < 600; n++) {
		await new Promise((resolve) => setImmediate(resolve));
		clock.advance(100);
	}
	storage.isAway = false;
	for (let n = 0; n < 100; n++) {
		await new Promise((resolve) => setImmediate(resolve));
		clock.advance(100);
	}
	const away = "storage is unavailable: outcomes wait to be committed";
	expect(lines).toEqual([away, away, away, "outcomes are committed again"]);
});

test("in an outage a project stops starting at its own limit, then all projects at the node's", async () => {
	const { storage, settler, pass } = held();
	storage.isAway = true;
	const called: string[] = [];
	for (let n = 0; settler.hasRoom("a"); n++) {
		expect(n).toBeLessThan(COMMITS.outcomesWaitingPerProject);
		settler.add(outcomeOf("a"));
	}
	settler.onRoom("a", () => called.push("a"));
	expect(settler.hasRoom("b")).toBe(true);
	const others = Array.from({ length: 200 }, (_, i) => `p${i}`);
	for (const project of others) while (settler.hasRoom(project)) settler.add(outcomeOf(project));
	expect(settler.budget.used).toBeLessThanOrEqual(COMMITS.outcomesWaiting);
	settler.onRoom("p0", () => called.push("p0"));
	await pass(60_000);
	expect(called).toEqual([]);
	storage.isAway = false;
	await pass(60_000);
	expect(called.sort()).toEqual(["a", "p0"]);
	expect(settler.hasRoom("a")).toBe(true);
	expect(settler.budget.used).toBe(0);
});

test("a project with locked rows starts nothing, takes no room from others, and loses no outcome", async () => {
	const { storage, settler, pass } = held();
	const settled: string[] = [];
	const done = (name: string) => (result: SettleResult) => settled.push(`${name} ${result}`);
	storage.locked.add("a");
	for (let i = 0; i < 3; i++) settler.add(outcomeOf("a", done(`a${i}`)));
	await pass(60_000);
	expect(settler.hasRoom("a")).toBe(false);
	expect(settler.budget.used).toBe(0);
	let hasRoom = 0;
	settler.onRoom("a", () => {
		hasRoom += 1;
	});
	for (let i = 0; i < 50; i++) {
		settler.add(outcomeOf("b", done(`b${i}`)));
		await pass(100);
	}
	expect(settled).toEqual(Array.from({ length: 50 }, (_, i) => `b${i} settled`));
	expect(hasRoom).toBe(0);
	storage.locked.clear();
	await pass(2_000);
	expect(settled.slice(50)).toEqual(["a0 settled", "a1 settled", "a2 settled"]);
	expect([hasRoom, settler.hasRoom("a"), settler.budget.used]).toEqual([1, true, 0]);
});

// Its batch was tried again until it was repaired, and everyone's outcomes waited for that.
test("a project with damaged rows starts nothing, delays no others, and is named in the log", async () => {
	const { storage, settler, pass, lines } = held();
	const settled: string[] = [];
	storage.damaged.add("a");
	// The first one is a batch by itself.
	for (const project of ["a", "b", "a", "c", "a"])
		settler.add(outcomeOf(project, (result) => settled.push(`${project} ${result}`)));
	await pass(60_000);
	expect(settled).toEqual(["b settled", "c settled"]);
	expect([settler.hasRoom("a"), settler.hasRoom("b"), settler.budget.used]).toEqual([false, true, 0]);
	expect(lines[0]).toMatchObject({ projectId: "a", err: { code: "unusable" } });
	storage.damaged.clear();
	await pass(2_000);
	expect(settled.slice(2)).toEqual(["a settled", "a settled", "a settled"]);
	expect([settler.hasRoom("a"), settler.budget.used]).toEqual([true, 0]);
});

// Those in front of the batch were tried again and again, and then nothing else. So was a batch of only damaged projects.
test("many projects with damaged rows delay no others", async () => {
	const { storage, settler, pass } = held();
	const settled: string[] = [];
	const add = (project: string) => settler.add(outcomeOf(project, () => settled.push(project)));
	const damaged = Array.from({ length: 20 }, (_, i) => `bad${i}`);
	for (const project of damaged) storage.damaged.add(project);
	for (const project of ["first", ...damaged, "a", "b"]) add(project);
	await pass(10_000);
	expect(settled).toEqual(["first", "a", "b"]);
	expect([settler.hasRoom("bad0"), settler.hasRoom("a"), settler.budget.used]).toEqual([false, true, 0]);
	for (const project of ["c", "d"]) {
		add(project);
		await pass(2_000);
	}
	expect(settled.slice(3)).toEqual(["c", "d"]);
	storage.damaged.clear();
	await pass(10_000);
	expect(settled.slice(5).sort()).toEqual(damaged.sort());
	expect(settler.budget.used).toBe(0);
});

// Outcomes of two leases looked like those of two projects: a batch of nothing else was tried even while the node stopped.
test("a damaged project with outcomes of two leases is given up when the node stops", async () => {
	const { storage, settler, pass } = held();
	const results: SettleResult[] = [];
	storage.damaged.add("a");
	for (let lease = 0; lease < 2; lease++) settler.add(outcomeOf("a", (result) => results.push(result)));
	await pass(10_000);
	settler.stop();
	await pass(15_000);
	expect(results).toEqual(["stale", "stale"]);
	await settler.drain();
});

test("if no project can be written, few statements find that out", async () => {
	const { storage, settler, pass } = held();
	const projects = ["first", ...Array.from({ length: 64 }, (_, i) => `p${i}`)];
	const settled: string[] = [];
	settler.add(outcomeOf(projects[0]!, () => settled.push(projects[0]!)));
	// The others share the next batch.
	for (const project of projects) storage.damaged.add(project);
	for (const project of projects.slice(1)) settler.add(outcomeOf(project, () => settled.push(project)));
	const before = storage.calls;
	await pass(60_000);
	// Of all together, of ever smaller parts, and of a few projects by themselves; every second after the first few. And of 16
	// projects that wait for their locks.
	expect(storage.calls - before).toBeLessThan(60 * 40);
	expect(settled).toEqual(["first"]);
	storage.damaged.clear();
	await pass(10_000);
	expect(settled.sort()).toEqual(projects.sort());
});

test("a stopping node gives up outcomes whose rows stay locked, and reports each once", async () => {
	const { storage, settler, pass } = held();
	const told: string[] = [];
	storage.locked.add("a");
	for (let i = 0; i < 3; i++) settler.add(outcomeOf("a", (result) => told.push(`a${i} ${result}`)));
	await pass(60_000);
	settler.stop();
	let isDrained = false;
	void settler.drain().then(() => {
		isDrained = true;
	});
	await pass(9_000);
	expect([told, isDrained]).toEqual([[], false]);
	await pass(3_000);
	expect([told, isDrained]).toEqual([["a0 stale", "a1 stale", "a2 stale"], true]);
	expect(settler.budget.used).toBe(0);
});

test("the last change counts if a delivery or lane changes several times in one commit", async () => {
	const settlements: Settlement[] = [];
	const storage = {
		settle: async (p: Params<"settle">) => {
			settlements.push(...p.settlements);
			return p.settlements.map(() => "settled" as const);
		},
	};
	const settler = new Settler(storage, new VirtualClock(), systemClock, silentLogger);
	const lease = { projectId: "a", generation: 1 };
	const nothing = { lease, attempt: null, schedule: null, unschedule: null, lane: null, done: () => undefined };
	const place = (seq: number) => ({ webhookId: "wh", seq });
	const retry = (seq: number) => ({ ...place(seq), queue: "retry", replay: 0, attempt: 2, dueAt: 1 }) as const;
	const progress = (position: number) => ({ webhookId: "wh", position, open: [] });
	// Items added while the first one is committed share a batch.
	settler.add({ ...nothing, lane: progress(1) });
	settler.add({ ...nothing, schedule: retry(1), lane: progress(2) });
	settler.add({ ...nothing, unschedule: place(1), lane: progress(3) });
	settler.add({ ...nothing, unschedule: place(2) });
	settler.add({ ...nothing, schedule: retry(2) });
	await settler.drain();
	expect(settlements.slice(1)).toMatchObject([{ schedule: [retry(2)], unschedule: [place(1)], lanes: [progress(3)] }]);
});

test("outcomes that waited for storage are settled under their lease's current generation", async () => {
	// A failover changes a lease's generation; outcomes under the old one would be rejected.
	const clock = new VirtualClock();
	const generations: number[] = [];
	const lease = { projectId: "a", generation: 1 };
	const storage = {
		settle: async ({ settlements }: Params<"settle">) => {
			generations.push(settlements[0]!.generation);
			if (generations.length > 1) return ["settled" as const];
			lease.generation = 2;
			throw new StorageError("lost", "The connection was reset.");
		},
	};
	const settler = new Settler(storage, clock, systemClock, silentLogger);
	settler.add({ ...outcomeOf("a"), lease });
	let isDrained = false;
	const draining = settler.drain().then(() => {
		isDrained = true;
	});
	await until("the settler to drain", () => {
		if (!isDrained && clock.nextAt !== null) clock.advanceTo(clock.nextAt);
		return isDrained;
	});
	await draining;
	expect(generations).toEqual([1, 2]);
});

test("a locked row that no statement checks for delays only its own project", async () => {
	const calls: string[] = [];
	const storage = {
		settle: async ({ settlements }: Params<"settle">) => {
			calls.push(settlements.map(({ projectId }) => projectId).join(" "));
			if (settlements.some(({ projectId }) => projectId === "held") && calls.length < 10)
				throw new StorageError("locked", "Another session locked a row.");
			return settlements.map(() => "settled" as const);
		},
	};
	const settler = new Settler(storage, new VirtualClock(), systemClock, silentLogger);
	const settled: string[] = [];
	for (const project of ["first", "a", "held", "b", "c"]) settler.add(outcomeOf(project, () => settled.push(project)));
	await settler.drain();
	expect(calls.slice(0, 6)).toEqual(["first", "a held b c", "a held", "a", "held", "b c"]);
	expect(settled).toEqual(["first", "a", "b", "c", "held"]);
});

test("once outcomes of a lease are refused, later ones under the same lease are not written", async () => {
	// Otherwise their lanes' positions would skip events of the rejected ones, which would never be sent again.
	const clock = new VirtualClock();
	const verdicts: Verdict[] = ["stale", "settled"];
	const written: number[] = [];
	const storage = {
		async settle({ settlements }: Params<"settle">): Promise<Verdict[]> {
			written.push(settlements.length);
			return settlements.map(() => verdicts.shift()!);
		},
	};
	const settler = new Settler(storage, clock, systemClock, silentLogger);
	const results: SettleResult[] = [];
	const { lease } = outcomeOf("p");
	const add = (): void => settler.add({ ...outcomeOf("p", (result) => results.push(result)), lease });
	add();
	await settler.drain();
	add();
	await settler.drain();
	expect(results).toEqual(["stale", "stale"]);
	expect(written).toEqual([1]);
	// The project was taken again.
	settler.add(outcomeOf("p", (result) => results.push(result)));
	await settler.drain();
	expect(results).toEqual(["stale", "stale", "settled"]);
});
