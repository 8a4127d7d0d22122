import { afterEach, beforeEach, expect, test } from "vitest";
import { VirtualClock } from "../../../testkit/src/virtual-clock.ts";
import { START } from "../../test/storage/conformance/world.ts";
import { MemoryWorld } from "../../test/storage/memory/world.ts";
import { StorageError } from "../storage/port.ts";
import { HealthCount, type HealthCountOptions, type HealthCounts } from "./health-count.ts";

let memory: MemoryWorld;
beforeEach(async () => {
	memory = await MemoryWorld.open();
});
afterEach(() => memory.world.dispose());

const NONE: HealthCounts = { paused: 0, failing: 0, unstable: 0, healthy: 0, idle: 0 };

/** Its own clock is exact; storage's stays at {@link START}. */
function counting(
	storage: HealthCountOptions["storage"],
	clock = new VirtualClock(),
	onJudged?: HealthCountOptions["onJudged"],
) {
	const warnings: unknown[] = [];
	const logger = { warn: (...args: unknown[]) => warnings.push(args) } as never;
	const time = { now: () => START + clock.elapsed(), elapsed: () => clock.elapsed() };
	const count = new HealthCount({
		storage,
		secretState: () => "usable",
		logger,
		onJudged,
		clock: {
			...time,
			setTimeout: (fn, ms) => clock.setTimeout(fn, ms),
			setImmediate: (fn) => clock.setImmediate(fn),
		},
	});
	/** Lets a pass run to its end. */
	const settle = async () => {
		let isOver = false;
		void count.whenCounted().then(() => {
			isOver = true;
		});
		while (!isOver) {
			await new Promise((resolve) => setImmediate(resolve));
			// It rests between projects.
			if (clock.nextAt !== null) clock.advanceTo(clock.nextAt);
		}
	};
	return { count, clock, warnings, settle };
}

/** The storage of a node that reads health like this. */
function reading(
	peers: object | null,
	readHealth: HealthCountOptions["storage"]["readHealth"],
): HealthCountOptions["storage"] {
	const { storage } = memory.world;
	return {
		peers,
		getSetting: (p) => storage.getSetting(p),
		replaceSetting: (p) => storage.replaceSetting(p),
		listProjects: (page) => storage.listProjects(page),
		listWebhooks: (page) => storage.listWebhooks(page),
		readHealth,
	};
}

test("counts the webhooks of all projects, at most once a minute", async () => {
	const { world } = memory;
	const [one, two] = [await world.project(), await world.project()];
	const [failing, paused] = [await world.webhook(one, ["a"]), await world.webhook(one, ["a"], { status: "paused" })];
	await world.webhook(two, ["a"]);
	const [event] = await world.publish(one, "a");
	const lease = await world.lease(one);
	await world.finish(lease, failing, event!, "failed");
	await world.finish(lease, paused, event!, "failed");
	const { count, clock, settle } = counting(world.storage);
	expect(count.read()).toBeNull();
	await settle();
	expect(count.read()).toEqual({ ...NONE, failing: 1, paused: 1, idle: 1 });
	await world.webhook(two, ["a"]);
	await clock.advance(59_000);
	count.read();
	await settle();
	expect(count.read()).toMatchObject({ idle: 1 });
	await clock.advance(1_000);
	count.read();
	await settle();
	expect(count.read()).toMatchObject({ idle: 2 });
});

test("shows nothing once counting fails, and tries again later", async () => {
	const { world } = memory;
	await world.webhook(await world.project(), ["a"]);
	let fails = false;
	const { storage } = world;
	const { count, clock, warnings, settle } = counting(
		reading(null, (p) => (fails ? Promise.reject(new StorageError("lost", "gone")) : storage.readHealth(p))),
	);
	count.read();
	await settle();
	expect(count.read()).toMatchObject({ idle: 1 });
	for (const [expected, broken] of [
		[null, true],
		[{ ...NONE, idle: 1 }, false],
	] as const) {
		fails = broken;
		await clock.advance(60_000);
		count.read();
		await settle();
		expect(count.read()).toEqual(expected);
	}
	expect(warnings).toHaveLength(1);
});

// A project with a damaged page kept all later ones from being counted, and alerts about them from being sent.
test("a project whose rows can't be read keeps no other from being counted", async () => {
	const { world } = memory;
	const projects = [await world.project(), await world.project(), await world.project()];
	for (const id of projects) await world.webhook(id, ["a"]);
	const bad = new Map<string, Error>([[projects[1]!, new StorageError("unusable", "invalid page in block 7")]]);
	const { count, clock, warnings, settle } = counting(
		reading(null, (p) => {
			const error = bad.get(p.projectId);
			return error ? Promise.reject(error) : world.storage.readHealth(p);
		}),
	);
	for (const [error, idle] of [
		[bad.get(projects[1]!)!, 2],
		[new Error("The event of a log entry doesn't exist."), 2],
		[null, 3],
	] as const) {
		if (error === null) bad.clear();
		else bad.set(projects[1]!, error);
		count.read();
		await settle();
		expect(count.read()).toEqual({ ...NONE, idle });
		await clock.advance(60_000);
	}
	const warning = [{ projectId: projects[1], projects: 1 }, expect.stringContaining("others are counted")];
	expect(warnings).toMatchObject([warning, warning]);
	for (const id of projects) bad.set(id, new StorageError("unusable", "no such table"));
	count.read();
	await settle();
	expect(count.read()).toBeNull();
});

// It rested for nine hours, and showed the previous counts meanwhile.
test("a process that was stopped for an hour while it counted counts again soon", async () => {
	const { world } = memory;
	await world.webhook(await world.project(), ["a"]);
	const { storage } = world;
	const clock = new VirtualClock();
	const { count, settle } = counting(
		reading(null, async (p) => {
			await clock.advance(3_600_000);
			return storage.readHealth(p);
		}),
		clock,
	);
	const from = clock.elapsed();
	count.read();
	await settle();
	expect(count.read()).toEqual({ ...NONE, idle: 1 });
	expect(clock.elapsed() - from).toBeLessThan(2 * 3_600_000);
});

// Each node read every project's health once a minute.
test("one of several nodes counts, and the others show its result; another takes over", async () => {
	const { world } = memory;
	await world.webhook(await world.project(), ["a"]);
	let reads = 0;
	const { storage } = world;
	const shared = reading({}, (p) => {
		reads++;
		return storage.readHealth(p);
	});
	const nodes = [counting(shared), counting(shared), counting(shared)];
	const [first, second] = nodes;
	for (let minute = 1; minute <= 3; minute++) {
		for (const { count, settle } of nodes) {
			count.read();
			await settle();
			expect(count.read()).toEqual({ ...NONE, idle: 1 });
		}
		expect(reads).toBe(minute);
		for (const { clock } of nodes) await clock.advance(60_000);
	}
	// It was killed while it counted.
	const countingAt = START + first!.clock.elapsed();
	await storage.setSetting({ name: "health_count", value: JSON.stringify({ counts: null, at: 0, countingAt }) });
	second!.count.read();
	await second!.settle();
	expect([second!.count.read(), reads]).toEqual([null, 3]);
	await second!.clock.advance(180_000);
	second!.count.read();
	await second!.settle();
	expect([second!.count.read(), reads]).toEqual([{ ...NONE, idle: 1 }, 4]);
});

// Alerts waited until such a node happened to begin a pass.
test("passes of nodes without alerts don't take the turn of one that sends them", async () => {
	const { world } = memory;
	await world.webhook(await world.project(), ["a"]);
	const clock = new VirtualClock();
	const passes: string[] = [];
	const { storage } = world;
	const plain = counting(
		reading({}, (p) => {
			passes.push("plain");
			return storage.readHealth(p);
		}),
		clock,
	);
	const alerting = counting(
		reading({}, (p) => storage.readHealth(p)),
		clock,
		async () => void passes.push("alerting"),
	);
	for (let minute = 0; minute < 3; minute++) {
		for (const { count, settle } of [plain, alerting]) {
			count.read();
			await settle();
			expect(count.read()).toEqual({ ...NONE, idle: 1 });
		}
		await clock.advance(60_000);
	}
	expect(passes).toEqual(["plain", "alerting", "plain", "alerting", "plain", "alerting"]);
	// Its own pass is enough for the others.
	alerting.count.read();
	await alerting.settle();
	plain.count.read();
	await plain.settle();
	expect(passes.slice(6)).toEqual(["alerting"]);
});

// Two nodes counted once a pass took longer than ten minutes.
test("a node that counts for an hour is the only one", async () => {
	const { world } = memory;
	const { storage } = world;
	for (let n = 0; n < 30; n++) await world.webhook(await world.project(), ["a"]);
	const clock = new VirtualClock();
	const reads: string[] = [];
	const others = counting(
		reading({}, (p) => {
			reads.push("other");
			return storage.readHealth(p);
		}),
		clock,
	);
	const { count, settle } = counting(
		reading({}, async (p) => {
			reads.push("first");
			await clock.advance(60_000);
			others.count.read();
			await others.count.whenCounted();
			return storage.readHealth(p);
		}),
		clock,
	);
	count.read();
	await settle();
	expect(clock.elapsed()).toBeGreaterThan(30 * 60_000);
	expect(reads).toEqual(Array.from({ length: 30 }, () => "first"));
	expect(count.read()).toEqual({ ...NONE, idle: 30 });
});

// It finished, and replaced the other node's count.
test("a node that was suspended while it counted leaves the count to the node that took over", async () => {
	const { world } = memory;
	const { storage } = world;
	for (let n = 0; n < 3; n++) await world.webhook(await world.project(), ["a"]);
	const clock = new VirtualClock();
	const other = counting(
		reading({}, (p) => storage.readHealth(p)),
		clock,
	);
	let reads = 0;
	const { count, settle } = counting(
		reading({}, async (p) => {
			reads++;
			await clock.advance(600_000);
			other.count.read();
			await other.settle();
			return storage.readHealth(p);
		}),
		clock,
	);
	count.read();
	await settle();
	expect([reads, count.read(), other.count.read()]).toEqual([1, null, { ...NONE, idle: 3 }]);
	await clock.advance(60_000);
	other.count.read();
	await other.settle();
	expect(other.count.read()).toEqual({ ...NONE, idle: 3 });
});

// The others waited for ten minutes.
test("a node that stops while it counts leaves the turn to another node", async () => {
	const { world } = memory;
	const { storage } = world;
	for (let n = 0; n < 3; n++) await world.webhook(await world.project(), ["a"]);
	const clock = new VirtualClock();
	const begun = Promise.withResolvers<void>();
	const stopping = counting(
		reading({}, (p) => {
			begun.resolve();
			return storage.readHealth(p);
		}),
		clock,
	);
	stopping.count.read();
	await begun.promise;
	await stopping.count.stop();
	await stopping.settle();
	expect(stopping.count.read()).toBeNull();
	const other = counting(
		reading({}, (p) => storage.readHealth(p)),
		clock,
	);
	other.count.read();
	await other.settle();
	expect(other.count.read()).toEqual({ ...NONE, idle: 3 });
});

test("a node that stops while its turn begins hands it over", async () => {
	const { world } = memory;
	const { storage } = world;
	await world.webhook(await world.project(), ["a"]);
	const [begun, write] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
	const { count, settle } = counting({
		...reading({}, (p) => storage.readHealth(p)),
		async replaceSetting(p) {
			begun.resolve();
			await write.promise;
			return storage.replaceSetting(p);
		},
	});
	count.read();
	await begun.promise;
	const stopped = count.stop();
	write.resolve();
	await stopped;
	await settle();
	expect(JSON.parse((await storage.getSetting({ name: "health_count" }))!)).toMatchObject({ countingAt: 0 });
});

test.each(["not JSON", "null", '{"at":"yesterday"}', `{"at":${START},"countingAt":0,"counts":{"idle":"many"}}`])(
	"a shared count that can't be read is replaced: %s",
	async (value) => {
		const { world } = memory;
		const { storage } = world;
		await world.webhook(await world.project(), ["a"]);
		await storage.setSetting({ name: "health_count", value });
		const { count, clock, warnings, settle } = counting(reading({}, (p) => storage.readHealth(p)));
		await clock.advance(60_000);
		count.read();
		await settle();
		expect([count.read(), warnings]).toEqual([{ ...NONE, idle: 1 }, []]);
	},
);
