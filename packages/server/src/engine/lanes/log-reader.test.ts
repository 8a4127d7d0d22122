import { expect, test } from "vitest";
import { WINDOWS } from "../../base/budgets.ts";
import type { LogEvent } from "../../storage/port.ts";
import { type Chunk, LogReader, type LogReaderOptions, WindowBudget } from "./log-reader.ts";

const ALL_TYPES = { typesKey: null, types: undefined };

/** Fails on any read: these tests are served from memory. */
const storage = { readLog: () => Promise.reject(new Error("The log was read.")) };

class CountingBudget extends WindowBudget {
	readonly kept = new Set<Chunk>();

	override take(chunk: Chunk, evict: () => void): void {
		this.kept.add(chunk);
		super.take(chunk, evict);
	}

	override give(chunk: Chunk): void {
		this.kept.delete(chunk);
		super.give(chunk);
	}
}

/** A reader of a log that is known to end at `lastSeq`. */
function reader(options: Partial<LogReaderOptions> = {}, lastSeq = 0): LogReader {
	const log = new LogReader({ storage, projectId: "prj_1", budget: new WindowBudget(), deliver: () => {}, ...options });
	log.reaches(lastSeq);
	return log;
}

function events(...seqs: number[]): LogEvent[] {
	return seqs.map((seq) => {
		const body = Buffer.from(`{"seq":${seq}}`);
		return { seq, id: `evt_${seq}`, type: "purchase.completed", createdAt: 0, publishedAt: 0, body };
	});
}

const seqsOf = (chunk: Chunk | undefined): number[] =>
	Array.from({ length: chunk?.events.length ?? 0 }, (_, index) => chunk!.events.seqAt(index));

test("a lane at the end of the log is fed published events from memory", () => {
	const log = reader();
	log.appended(events(1, 2, 3), 0);
	expect(seqsOf(log.find({ position: 0, ...ALL_TYPES }))).toEqual([1, 2, 3]);
	expect(log.find({ position: 2, ...ALL_TYPES })?.through).toBe(3);
});

test("a project whose webhooks are all paused keeps no published events in memory", () => {
	// The first 255 events of each such project were once kept for as long as it was paused.
	const log = reader();
	log.appended(events(1, 2, 3), Number.NEGATIVE_INFINITY);
	expect(log.find({ position: 0, ...ALL_TYPES })).toBeUndefined();
	expect(log.lastSeq).toBe(3);
});

test("reads that find nothing leave nothing in memory", async () => {
	// Lanes constantly read past events for other webhooks; each such read was once kept forever.
	const budget = new CountingBudget();
	const windows: Chunk[] = [];
	const nothing = { readLog: () => Promise.resolve([]) };
	let read = Promise.withResolvers<void>();
	const log = reader({
		storage: nothing,
		budget,
		deliver: async (_key, reading) => {
			windows.push(await reading);
			read.resolve();
		},
	});
	for (let seq = 1; seq <= 100; seq++) {
		log.reaches(seq);
		read = Promise.withResolvers();
		log.request({ position: seq - 1, typesKey: "chargeback.created", types: ["chargeback.created"] });
		await read.promise;
	}
	expect(windows.map(({ after, through }) => [after, through])).toEqual(
		Array.from({ length: 100 }, (_, i) => [i, i + 1]),
	);
	expect(budget.kept.size).toBe(0);
});

test("events published while no lane was near are not taken for the next ones", () => {
	const log = reader();
	log.appended(events(1, 2), Number.NEGATIVE_INFINITY);
	log.appended(events(3), 2);
	expect(log.find({ position: 0, ...ALL_TYPES })).toBeUndefined();
	expect(seqsOf(log.find({ position: 2, ...ALL_TYPES }))).toEqual([3]);
});

test("reports an event under another one's number, but not the same event again", () => {
	const log = reader();
	log.appended(events(1, 2, 3), 0);
	const [, again] = events(1, 2);
	expect(log.appended([again!], 0)).toBeNull();
	const other = { ...again!, id: "evt_other" };
	expect(log.appended([other, ...events(4)], 0)).toBe(other);
	expect(log.lastSeq).toBe(4);
});

test("reports an event whose number was only announced: it may be another's, of a log that was rewound", () => {
	const log = reader({}, 3);
	const [second, third] = events(2, 3);
	expect(log.appended([third!], 0)).toBe(third);
	// Now it is known, though no lane needs it.
	expect(log.appended([third!], 0)).toBeNull();
	expect(log.appended([second!], 0)).toBe(second);
});

test("an event published while a read finds nothing doesn't count as read", async () => {
	// An empty window describes the log only as of the start of the read.
	const answers: ((events: LogEvent[]) => void)[] = [];
	const slow = { readLog: () => new Promise<LogEvent[]>((resolve) => answers.push(resolve)) };
	const read = Promise.withResolvers<Chunk>();
	const log = reader({ storage: slow, deliver: (_key, reading) => read.resolve(reading) }, 3);
	log.request({ position: 1, typesKey: "chargeback.created", types: ["chargeback.created"] });
	log.appended(events(4), Number.NEGATIVE_INFINITY);
	log.reaches(5);
	answers[0]!([]);
	const chunk = await read.promise;
	expect([chunk.after, chunk.through, log.lastSeq]).toEqual([1, 3, 5]);
});

test("thousands of stalled lanes together hold no more than the budget", async () => {
	const budget = new WindowBudget();
	const [event] = events(1);
	const body = Buffer.alloc(20 * 1_024);
	const large = { readLog: () => Promise.resolve([{ ...event!, body }]) };
	const held: Chunk[] = [];
	for (let lane = 0; lane < 4_000; lane++) {
		await new Promise<void>((resolve) => {
			const log = reader({
				storage: large,
				projectId: `prj_${lane}`,
				budget,
				deliver: async (_key, reading) => {
					held.push(await reading);
					resolve();
				},
			});
			log.request({ position: 0, ...ALL_TYPES });
		});
	}
	const bytes = held.reduce((sum, chunk) => sum + chunk.events.bytes, 0);
	expect(bytes).toBeLessThanOrEqual(32 * 1_024 * 1_024);
	// The last window is still held: each reader gets what it read.
	expect(held.at(-1)!.events).toHaveLength(1);
	expect(held[0]!.serves(0, null)).toBe(false);
});

// What had been sent stayed in memory until other windows needed the room.
test("events that all lanes have passed are dropped at once", () => {
	const budget = new WindowBudget();
	const log = reader({ budget });
	const [fast, slow] = [
		{ position: 0, bagIndex: -1 },
		{ position: 0, bagIndex: -1 },
	];
	log.enter(fast);
	log.enter(slow);
	log.appended(events(1, 2), 0);
	fast.position = 2;
	log.leave(fast);
	expect(log.find({ position: 0, ...ALL_TYPES })?.events).toHaveLength(2);
	slow.position = 2;
	log.leave(slow);
	expect(log.find({ position: 0, ...ALL_TYPES })).toBeUndefined();
	expect(budget.used).toBe(0);
});

// Its beginning was dropped before the lanes that follow the log were notified, so they read it from storage.
test("all of a batch stays for lanes that follow the log, until they have passed it", () => {
	const log = reader();
	const lane = { position: 0, bagIndex: -1, ...ALL_TYPES };
	const body = Buffer.alloc(WINDOWS.freshBytes / 2);
	const batch = events(...Array.from({ length: 10 }, (_, index) => index + 1)).map((event) => ({ ...event, body }));
	log.appended(batch, 0);
	log.enter(lane);
	for (; lane.position < batch.length; lane.position++) expect(log.find(lane)).toBeDefined();
	log.leave(lane);
	expect(log.find({ position: 0, ...ALL_TYPES })).toBeUndefined();
});

test("a lane far behind keeps only what it reads soon, whatever is published meanwhile", () => {
	const budget = new WindowBudget();
	const log = reader({ budget });
	const [fast, hanging] = [
		{ position: 0, bagIndex: -1 },
		{ position: 0, bagIndex: -1 },
	];
	log.enter(hanging);
	for (let seq = 1; seq <= 10 * WINDOWS.reach; seq++) {
		log.enter(fast);
		log.appended(events(seq), seq - 1);
		fast.position = seq;
		log.leave(fast);
	}
	const held = [0, WINDOWS.reach, 2 * WINDOWS.reach].map(
		(position) => log.find({ position, ...ALL_TYPES }) !== undefined,
	);
	expect(held).toEqual([true, true, false]);
	expect(budget.used).toBeLessThan(2 * (WINDOWS.reach + 3 * WINDOWS.freshEvents) * 100);
});

// Only bodies counted: tiny events took several times the budget.
test("the smallest events count with all the memory that they take", async () => {
	const budget = new WindowBudget(8 * 1_024);
	const tiny = events(...Array.from({ length: 256 }, (_, index) => index + 1));
	const read = Promise.withResolvers<Chunk>();
	const log = reader(
		{ budget, storage: { readLog: () => Promise.resolve(tiny) }, deliver: (_key, reading) => read.resolve(reading) },
		256,
	);
	log.request({ position: 0, ...ALL_TYPES });
	// It doesn't fit, though its bodies have less than half of the limit.
	expect((await read.promise)?.isEmptied).toBe(true);
	expect(budget.used).toBe(0);
});

// A window read after the project was released counted until other windows needed the room.
test("a read that ends after the project was released leaves nothing in memory", async () => {
	const budget = new CountingBudget();
	const read = Promise.withResolvers<LogEvent[]>();
	const log = reader({ storage: { readLog: () => read.promise }, budget }, 3);
	log.request({ position: 0, ...ALL_TYPES });
	log.end();
	read.resolve(events(1, 2, 3));
	await new Promise((resolve) => setImmediate(resolve));
	expect([budget.kept.size, budget.used]).toEqual([0, 0]);
});

test("a project reads few windows at a time, and lanes share the same one", () => {
	const asked: number[] = [];
	const slow = {
		readLog: ({ after }: { readonly after: number }) => {
			asked.push(after);
			return new Promise<LogEvent[]>(() => {});
		},
	};
	const log = reader({ storage: slow }, 100);
	const keys = Array.from({ length: WINDOWS.readsPerProject + 1 }, (_, position) =>
		log.request({ position, ...ALL_TYPES }),
	);
	expect(keys.at(-1)).toBeNull();
	expect(log.request({ position: 0, ...ALL_TYPES })).toBe(keys[0]);
	expect(asked).toEqual(Array.from({ length: WINDOWS.readsPerProject }, (_, position) => position));
});

test("a window read for some types doesn't serve lanes of others", async () => {
	const read = Promise.withResolvers<Chunk>();
	const [, event] = events(1, 2);
	const log = reader(
		{ storage: { readLog: () => Promise.resolve([event!]) }, deliver: (_key, reading) => read.resolve(reading) },
		2,
	);
	log.request({ position: 0, typesKey: "purchase.completed", types: ["purchase.completed"] });
	const chunk = await read.promise;
	expect(log.find({ position: 0, typesKey: "purchase.completed", types: ["purchase.completed"] })).toBe(chunk);
	expect(log.find({ position: 0, typesKey: "chargeback.created", types: ["chargeback.created"] })).toBeUndefined();
	expect(log.find({ position: 0, ...ALL_TYPES })).toBeUndefined();
});
