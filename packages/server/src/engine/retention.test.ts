import { expect, test, vi } from "vitest";
import { VirtualClock } from "../../../testkit/src/virtual-clock.ts";
import { MemoryDatabase, openMemoryStorage } from "../../test/storage/memory/index.ts";
import { silentLogger } from "../base/logger.ts";
import type { EventSweepStep, Storage, Sweep, SweepStep } from "../storage/port.ts";
import { createSweeper } from "./retention.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const TICK_MS = 5_000;
const NOTHING: EventSweepStep = { deleted: 0, next: null, unattempted: [] };

/** Nodes that share a database, and which of them began a pass. */
class Cluster {
	readonly clock = new VirtualClock();
	readonly database = new MemoryDatabase({ clock: this.clock });
	readonly passes: string[] = [];
	/** Which nodes began to delete events. */
	readonly eventPasses: string[] = [];
	completed = 0;
	/** How often each node has asked to be the one that sweeps. */
	readonly tries = new Map<string, () => number>();

	/** @param attempts a step that deletes attempts */
	async start(
		name: string,
		attempts: (p: Sweep) => Promise<SweepStep> = async () => NOTHING,
		retentionNow: () => number = () => this.clock.now(),
	): Promise<ReturnType<typeof createSweeper>> {
		const storage = await openMemoryStorage({ database: this.database, clock: this.clock, leaseTermMs: 10_000 });
		const take = vi.spyOn(storage.peers!, "takeSweep");
		this.tries.set(name, () => take.mock.calls.length);
		const context = {
			storage: {
				peers: storage.peers,
				sweepAttempts: (p) => {
					if (p.from === 0) this.passes.push(name);
					return attempts(p);
				},
				sweepEvents: async () => {
					this.eventPasses.push(name);
					return NOTHING;
				},
			} as Pick<Storage, "peers" | "sweepAttempts" | "sweepEvents">,
			clock: this.clock,
			disk: this.clock,
			logger: silentLogger,
			holder: name,
			retentionMs: 30 * DAY,
			retentionNow,
			observer: { passed: () => void this.completed++ },
		};
		const sweeper = createSweeper(context, () => undefined);
		sweeper.start();
		await settled();
		return sweeper;
	}

	/** Lets time pass in small steps. */
	async pass(ms: number): Promise<void> {
		for (let passed = 0; passed < ms; passed += TICK_MS) {
			this.clock.advance(TICK_MS);
			await settled();
		}
	}
}

/** What the last timers triggered is done. */
async function settled(): Promise<void> {
	for (let turns = 0; turns < 10; turns++) await new Promise((resolve) => setImmediate(resolve));
}

test("many nodes make about one pass an hour", async () => {
	const cluster = new Cluster();
	for (const name of ["a", "b", "c", "d"]) await cluster.start(name);
	// A node that starts sweeps: it may have been off for long.
	expect(cluster.passes).toEqual(["a", "b", "c", "d"]);
	await cluster.pass(24 * HOUR);
	expect(cluster.passes.length - 4).toBeGreaterThanOrEqual(23);
	expect(cluster.passes.length - 4).toBeLessThanOrEqual(27);
	expect(cluster.completed).toBe(cluster.passes.length);
});

test("a node that has the database to itself makes a pass an hour, and one whenever it is asked to", async () => {
	const clock = new VirtualClock();
	let passes = 0;
	const sweepAttempts = async () => {
		passes++;
		return NOTHING;
	};
	const storage = { peers: null, sweepAttempts, sweepEvents: async () => NOTHING };
	const sweeper = createSweeper(
		{
			...{ storage, clock, disk: clock, logger: silentLogger, holder: "node", retentionMs: 30 * DAY },
			...{ retentionNow: () => clock.now(), observer: {} },
		},
		() => undefined,
	);
	sweeper.start();
	await settled();
	expect(passes).toBe(1);
	for (let passed = 0; passed < 10 * HOUR; passed += MINUTE) {
		clock.advance(MINUTE);
		await settled();
	}
	expect(passes).toBe(11);
	await sweeper.sweep();
	expect(passes).toBe(12);
	await sweeper.stop();
});

test("while a node sweeps, however long that takes, no other one does", async () => {
	const cluster = new Cluster();
	let left = 3 * 60;
	await cluster.start("busy", async () => {
		await new Promise<void>((resolve) => void cluster.clock.setTimeout(resolve, MINUTE / 4));
		return { ...NOTHING, next: --left > 0 ? 1 : null };
	});
	await cluster.start("idle");
	await cluster.pass(HOUR);
	expect(left).toBeGreaterThan(0);
	expect(cluster.passes).toEqual(["busy"]);
});

// It deleted rows of a restored database that was in quarantine by then, for as long as the pass took.
test("a pass ends once nothing may be deleted any longer, and is repeated soon after that", async () => {
	const cluster = new Cluster();
	let isHeld = false;
	let steps = 0;
	const step = async (): Promise<SweepStep> => {
		steps++;
		isHeld = steps === 3;
		return { ...NOTHING, next: steps < 5 ? 1 : null };
	};
	await cluster.start("node", step, () => (isHeld ? Number.NEGATIVE_INFINITY : cluster.clock.now()));
	await cluster.pass(10 * MINUTE);
	expect([steps, cluster.passes.length, cluster.completed]).toEqual([3, 1, 0]);
	isHeld = false;
	await cluster.pass(10 * MINUTE);
	expect([steps, cluster.passes.length, cluster.completed]).toEqual([5, 2, 1]);
});

test("a node whose clock isn't trusted doesn't ask for the sweep", async () => {
	const cluster = new Cluster();
	let isTrusted = false;
	const now = () => (isTrusted ? cluster.clock.now() : Number.NEGATIVE_INFINITY);
	await cluster.start("ahead", async () => NOTHING, now);
	await cluster.pass(HOUR);
	expect(cluster.tries.get("ahead")!()).toBe(0);
	isTrusted = true;
	await cluster.pass(10 * MINUTE);
	expect(cluster.passes).toEqual(["ahead"]);
});

// It stopped deleting attempts, but then it deleted events alongside the other node, and reported the pass as its own.
test("a node that dies or freezes while it sweeps is replaced, and stops when it continues", async () => {
	const cluster = new Cluster();
	const frozen = Promise.withResolvers<void>();
	let steps = 0;
	await cluster.start("frozen", async () => {
		steps++;
		await frozen.promise;
		return { ...NOTHING, next: 1 };
	});
	await cluster.start("healthy");
	expect(cluster.passes).toEqual(["frozen"]);
	await cluster.pass(10 * MINUTE);
	expect(cluster.passes).toEqual(["frozen", "healthy"]);
	frozen.resolve();
	await cluster.pass(10 * MINUTE);
	expect(steps).toBe(1);
	expect(cluster.completed).toBe(1);
	expect(cluster.passes).toEqual(["frozen", "healthy"]);
	expect(cluster.eventPasses).toEqual(["healthy"]);
});

// If the process was stopped for an hour during a step, the step seemed slow, and the pass paused for two hours.
test("a pass continues within a minute after the process was stopped", async () => {
	const cluster = new Cluster();
	const stopped = Promise.withResolvers<void>();
	let steps = 0;
	await cluster.start("stopped", async () => {
		steps++;
		if (steps === 1) await stopped.promise;
		return { ...NOTHING, next: steps === 1 ? 1 : null };
	});
	await cluster.pass(HOUR);
	stopped.resolve();
	await settled();
	await cluster.pass(MINUTE);
	expect(steps).toBe(2);
	expect(cluster.completed).toBe(1);
});

test("a node whose clock isn't trusted leaves the pass to others", async () => {
	const cluster = new Cluster();
	let now = Number.NEGATIVE_INFINITY;
	await cluster.start("ahead", undefined, () => now);
	await cluster.start("right");
	await cluster.pass(24 * HOUR);
	expect(new Set(cluster.passes)).toEqual(new Set(["right"]));
	now = cluster.clock.now();
	await cluster.pass(24 * HOUR);
	expect(cluster.passes).toContain("ahead");
});

test("a pass uses the trusted time", async () => {
	const cluster = new Cluster();
	const trusted = cluster.clock.now() - 40 * DAY;
	const steps: Sweep[] = [];
	const step = async (p: Sweep) => {
		steps.push(p);
		return NOTHING;
	};
	await cluster.start("node", step, () => trusted);
	expect(steps).toMatchObject([{ now: trusted, cutoff: trusted - 30 * DAY, latest: trusted + DAY }]);
});

test("a stopping node leaves the rest of its pass to the next one that looks", async () => {
	const cluster = new Cluster();
	const stopping = await cluster.start("stopping", async () => {
		await new Promise<void>((resolve) => void cluster.clock.setTimeout(resolve, MINUTE));
		return { ...NOTHING, next: 1 };
	});
	await cluster.pass(1.5 * MINUTE);
	// It stops in the pause after a step.
	await stopping.stop();
	await cluster.start("other");
	expect(cluster.passes).toEqual(["stopping", "other"]);
});
