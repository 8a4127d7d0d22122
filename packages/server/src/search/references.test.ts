import { VirtualClock, within } from "@posthorn/testkit";
import { expect, test } from "vitest";
import type { Params, UnindexedPart } from "../storage/port.ts";
import { References } from "./references.ts";

/** A log of which `left` steps aren't indexed, and a clock that each step moves on. */
class SlowIndex {
	readonly clock = new VirtualClock();
	readonly steps: string[] = [];
	left = new Map<string, number>();
	failing = false;
	/** The project whose steps fail. */
	damaged: string | null = null;
	readonly #stepMs: number;
	onStep: () => void = () => undefined;

	constructor(stepMs: number) {
		this.#stepMs = stepMs;
	}

	async readUnindexed({ projectId }: Params<"readUnindexed">): Promise<UnindexedPart | null> {
		await new Promise((resolve) => setImmediate(resolve));
		if (this.failing || projectId === this.damaged) throw new Error("The database is away.");
		const left = this.left.get(projectId) ?? 0;
		return left === 0 ? null : { after: 0, through: 1, isLast: left === 1, references: [] };
	}

	async indexReferences({ projectId }: Params<"indexReferences">): Promise<boolean> {
		this.steps.push(projectId);
		this.onStep();
		this.left.set(projectId, this.left.get(projectId)! - 1);
		await this.clock.advance(this.#stepMs);
		return true;
	}

	/** What every lookup finds. */
	found = { seqs: [] as number[], capped: false };
	lookups = 0;
	mostLookups = 0;
	async findReferences({ projectId }: Params<"findReferences">) {
		this.mostLookups = Math.max(this.mostLookups, ++this.lookups);
		await new Promise((resolve) => setImmediate(resolve));
		this.lookups--;
		return { ...this.found, complete: (this.left.get(projectId) ?? 0) === 0, since: null };
	}

	/** Of each event. */
	attempts = 1;
	async hasMoreAttempts({ seqs, maxAttempts }: Params<"hasMoreAttempts">) {
		return seqs.length * this.attempts > maxAttempts;
	}

	sweeps = 0;
	async sweepReferences(): Promise<boolean> {
		this.sweeps++;
		return false;
	}

	async listProjects() {
		return [...this.left.keys()].map((id) => ({ id, name: "", apps: [], createdAt: 0 }));
	}
}

const quiet = { info() {}, warn() {}, error() {} };
const sought = { orderIds: ["1"], customerEmails: [] };

function open(index: SlowIndex, logger: object = quiet): References {
	return new References({ storage: index, clock: index.clock, logger: logger as never });
}

/** Moves time on, timer by timer, until this is the case. */
async function pass(clock: VirtualClock, until: () => boolean): Promise<void> {
	for (let turns = 0; !until(); turns++) {
		if (turns > 10_000) throw new Error("It didn't happen.");
		await new Promise((resolve) => setImmediate(resolve));
		if (clock.nextAt !== null) clock.advanceTo(clock.nextAt);
	}
}

test("in the background, indexing takes a twentieth of the time at most", async () => {
	const index = new SlowIndex(10);
	index.left.set("p", 20);
	const references = open(index);
	references.note("p");
	const from = index.clock.elapsed();
	references.start();
	await pass(index.clock, () => index.left.get("p") === 0);
	expect(index.clock.elapsed() - from).toBeGreaterThan((19 * 10) / 0.05);
	await references.stop();
});

// With an event now and then, each had a step, and a transaction, of its own.
test("events that are published all the time are indexed together", async () => {
	const index = new SlowIndex(10);
	index.onStep = () => {
		index.left.set("p", 2);
		references.note("p");
	};
	index.left.set("p", 1);
	const references = open(index);
	references.note("p");
	const from = index.clock.elapsed();
	references.start();
	await pass(index.clock, () => index.steps.length === 5);
	expect(index.clock.elapsed() - from).toBeGreaterThan(4 * 5_000);
	await references.stop();
});

// It indexed nothing for nineteen hours.
test("a process that was stopped for an hour during a step continues soon", async () => {
	const index = new SlowIndex(3_600_000);
	index.left.set("p", 2);
	const references = open(index);
	references.note("p");
	const from = index.clock.elapsed();
	references.start();
	await pass(index.clock, () => index.left.get("p") === 0);
	expect(index.clock.elapsed() - from).toBeLessThan(3 * 3_600_000);
	await references.stop();
});

// It was logged every five seconds.
test("a database that is away is logged now and then, and once it is back", async () => {
	const index = new SlowIndex(10);
	index.left.set("p", 1);
	index.failing = true;
	const lines: unknown[] = [];
	const warn = ({ err, ...fields }: { err?: Error }, text: string) => lines.push([text, fields]);
	const references = open(index, { ...quiet, warn });
	references.note("p");
	references.start();
	const from = index.clock.elapsed();
	await pass(index.clock, () => index.clock.elapsed() - from > 60_000);
	index.failing = false;
	await pass(index.clock, () => index.left.get("p") === 0);
	await references.stop();
	const failed = (fields: object) => [
		"failed to index order ids and customers",
		{ projectId: "p", retryInMs: 5_000, ...fields },
	];
	expect(lines).toEqual([
		failed({}),
		failed({ failures: 3, forMs: 10_000 }),
		failed({ failures: 7, forMs: 30_000 }),
		["order ids and customers are indexed again", { failures: 12, forMs: 60_200 }],
	]);
});

// A service that stopped during a step waited for up to a minute.
test("stopping during a step leaves out the pause after it", async () => {
	const index = new SlowIndex(1_000);
	index.left.set("p", 2);
	const references = open(index);
	const stopping = Promise.withResolvers<void>();
	let from = 0;
	index.onStep = () => {
		from = index.clock.elapsed();
		stopping.resolve(references.stop());
	};
	references.note("p");
	references.start();
	await pass(index.clock, () => index.steps.length > 0);
	await within("the index to stop", stopping.promise);
	expect(index.clock.elapsed() - from).toBe(1_000);
});

test("a search waits for a few steps of its project only, which concurrent searches share", async () => {
	const index = new SlowIndex(0);
	index.left.set("p", 20).set("other", 20);
	const references = open(index);
	await Promise.all([references.find("p", sought), references.find("p", sought)]);
	expect(index.steps).toEqual(Array.from({ length: 8 }, () => "p"));
	await references.find("p", sought);
	expect(index.steps).toHaveLength(16);
});

test("all projects are visited after a retention pass, and their deleted events' references swept", async () => {
	const index = new SlowIndex(1);
	index.left.set("p", 1).set("other", 2);
	const references = open(index);
	references.visitAll();
	references.start();
	await pass(index.clock, () => index.steps.length === 3 && index.sweeps === 2);
	await references.stop();
});

test("after a failure, it tries again", async () => {
	const index = new SlowIndex(1);
	index.left.set("p", 1);
	index.failing = true;
	const references = open(index);
	references.note("p");
	references.start();
	const from = index.clock.elapsed();
	await pass(index.clock, () => index.clock.elapsed() - from > 20_000);
	index.failing = false;
	await pass(index.clock, () => index.left.get("p") === 0);
	await references.stop();
});

test("a project that always has more to index doesn't keep others from being indexed and swept", async () => {
	const index = new SlowIndex(1);
	index.left.set("busy", Number.POSITIVE_INFINITY).set("p", 9);
	const references = open(index);
	references.note("busy");
	references.visitAll();
	references.start();
	await pass(index.clock, () => index.left.get("p") === 0 && index.sweeps === 2);
	expect(index.steps.filter((id) => id === "busy").length).toBeGreaterThan(9);
	await references.stop();
});

test("an error in one project doesn't keep others from being indexed and swept", async () => {
	const index = new SlowIndex(1);
	index.left.set("damaged", 1).set("p", 9);
	index.damaged = "damaged";
	const references = open(index);
	references.visitAll();
	references.start();
	await pass(index.clock, () => index.left.get("p") === 0 && index.sweeps === 2);
	index.damaged = null;
	await pass(index.clock, () => index.left.get("damaged") === 0);
	await references.stop();
});

test("a search looks its values up one after the other", async () => {
	const index = new SlowIndex(1);
	await open(index).find("p", { orderIds: ["1", "2", "3"], customerEmails: ["a", "b"] });
	expect(index.mostLookups).toBe(1);
});

// All of their attempts are sorted for each page.
test("a list of attempts considers few events of a value that very many events have", async () => {
	const index = new SlowIndex(0);
	const references = open(index);
	const seqs = Array.from({ length: 200 }, (_, i) => 200 - i);
	index.found = { seqs, capped: false };
	const few = await references.findAttempted("p", sought);
	expect(few).toEqual({ seqs, maxAttempts: 500, capped: false, complete: true, since: null });
	expect(await references.isCapped("p", few)).toBe(false);
	index.attempts = 3;
	expect(await references.isCapped("p", few)).toBe(true);
	index.found = { seqs, capped: true };
	const many = await references.findAttempted("p", sought);
	expect(many).toMatchObject({ seqs: seqs.slice(0, 50), maxAttempts: 150, capped: true });
	expect(await references.isCapped("p", many)).toBe(true);
	index.found = { seqs: [1], capped: false };
	const one = await references.findAttempted("p", sought);
	expect(one).not.toHaveProperty("maxAttempts");
	expect(await references.isCapped("p", one)).toBe(false);
	index.found = { seqs, capped: true };
	expect(await references.find("p", sought)).toMatchObject({ seqs, capped: true });
});
