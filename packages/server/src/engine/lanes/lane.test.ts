import { signingKey } from "@posthorn/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { LaneProgress, LaneState, LogEvent, Retry } from "../../storage/port.ts";
import { Lane } from "./lane.ts";
import { ANY_READ, Chunk } from "./log-reader.ts";

const TYPES = ["a", "b"];

const KEYS = { key: signingKey(Buffer.alloc(32)), standardKey: null };

const range = (from: number, to: number): number[] =>
	Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i);

function stateOf(about: Partial<LaneState>): LaneState {
	return {
		webhookId: "wh_1",
		url: "https://receiver.example/",
		status: "active",
		maxInFlight: 5,
		sealedDigest: new Uint8Array(),
		subscriptions: new Map([["a", 0]]),
		position: 0,
		open: [],
		skipThrough: 0,
		...about,
	};
}

const eventOf = (seq: number, type: string): LogEvent => ({
	seq,
	id: `evt_${seq}`,
	type,
	createdAt: 0,
	publishedAt: 0,
	body: Buffer.from("{}"),
});

/** Takes the next event, if the lane may start one; reads `window` events of the log at a time. @returns its `seq` */
function start(lane: Lane, log: readonly LogEvent[], window: number): number | null {
	while (lane.mayStartFirst) {
		const event = lane.peekEvent();
		if (event) {
			lane.takeEvent(event);
			return event.seq;
		}
		if (lane.open.unread.length > 0) {
			const seqs = lane.open.unread;
			lane.open.read(seqs, Chunk.ofOpen(log.filter(({ seq }) => seqs.includes(seq))));
		} else if (lane.position < log.length) {
			const through = Math.min(log.length, lane.position + window);
			lane.use(new Chunk(lane.position, through, log.slice(lane.position, through), null));
		} else {
			return null;
		}
	}
	return null;
}

/** A minimal model of storage, the owner and the node around one lane. */
class World {
	readonly log: LogEvent[] = [];
	/** What storage contains, including the owner's settings. */
	stored = stateOf({});
	readonly logged = new Set<number>();
	lane = new Lane("proj_1", this.stored, KEYS);
	inFlight: number[] = [];
	/** Events that this lane has ended, committed or not. */
	ended = new Set<number>();
	/** Ended events whose commit is pending, in this order. */
	uncommitted: { readonly seq: number | null; readonly progress: LaneProgress }[] = [];
	/** Where the owner resumed from, and the value that the lane knows. */
	skipped = 0;
	heardSkipped = 0;

	isWanted(seq: number): boolean {
		const from = this.stored.subscriptions.get(this.log[seq - 1]!.type);
		return from !== undefined && seq > from;
	}

	/** The events that the lane should start, in order. */
	get waiting(): number[] {
		return range(1, this.log.length).filter(
			(seq) => this.isWanted(seq) && seq > this.heardSkipped && !this.ended.has(seq) && !this.inFlight.includes(seq),
		);
	}

	take(window: number): void {
		const mayStart = this.inFlight.length < this.stored.maxInFlight;
		expect(this.lane.mayStartFirst).toBe(mayStart);
		const next = mayStart ? (this.waiting[0] ?? null) : null;
		expect(start(this.lane, this.log, window)).toBe(next);
		if (next !== null) this.inFlight.push(next);
	}

	end(which: number): void {
		const seq = this.#land(which);
		if (seq === undefined) return;
		this.ended.add(seq);
		this.lane.firstEnded(seq);
		this.uncommitted.push({ seq, progress: this.lane.progress });
	}

	putBack(which: number): void {
		const seq = this.#land(which);
		if (seq !== undefined) this.lane.putBack(seq);
	}

	/** Commits like storage does: settled events stay settled. */
	commit(count: number): void {
		for (const { seq, progress } of this.uncommitted.splice(0, count)) {
			if (seq !== null) this.logged.add(seq);
			const { position, open } = this.stored;
			const stillOpen = open.filter((each) => each > progress.position || progress.open.includes(each));
			const added = progress.open.filter((each) => each > position);
			this.set({ position: Math.max(position, progress.position), open: [...stillOpen, ...added] });
			this.lane.stored(progress.position);
		}
	}

	set(about: Partial<LaneState>): void {
		this.stored = { ...this.stored, ...about };
	}

	reload(): void {
		this.lane.reload(this.stored, KEYS);
		this.heardSkipped = this.skipped;
	}

	crash(): void {
		this.lane = new Lane("proj_1", this.stored, KEYS);
		this.inFlight = [];
		this.uncommitted = [];
		this.ended = new Set(this.logged);
		this.heardSkipped = this.skipped;
	}

	/** Checks that loading the stored state repeats every attempt that isn't logged, and no other. */
	check(): void {
		const { position, open } = this.stored;
		expect(open).toEqual([...new Set(open)].sort((a, b) => a - b));
		for (const seq of range(1, this.log.length)) {
			const isOpen = seq > position || open.includes(seq);
			if (this.logged.has(seq)) expect(isOpen).toBe(false);
			else if (this.isWanted(seq) && seq > this.skipped) expect(isOpen).toBe(true);
		}
		expect(this.lane.progress.open.length).toBeLessThanOrEqual(this.mostInFlight);
	}

	/** The largest `max_in_flight` so far. */
	mostInFlight = this.stored.maxInFlight;

	#land(which: number): number | undefined {
		return this.inFlight.splice(which % Math.max(1, this.inFlight.length), 1)[0];
	}
}

const POSITION = { kind: "position" } as const;

const steps = fc.array(
	fc.oneof(
		{ weight: 8, arbitrary: fc.record({ kind: fc.constant("take" as const), window: fc.integer({ min: 1, max: 4 }) }) },
		{ weight: 4, arbitrary: fc.record({ kind: fc.constant("end" as const), which: fc.nat({ max: 9 }) }) },
		{ weight: 2, arbitrary: fc.record({ kind: fc.constant("putBack" as const), which: fc.nat({ max: 9 }) }) },
		{
			weight: 3,
			arbitrary: fc.record({ kind: fc.constant("commit" as const), count: fc.integer({ min: 1, max: 3 }) }),
		},
		{ weight: 1, arbitrary: fc.record({ kind: fc.constant("position" as const) }) },
		{
			weight: 2,
			arbitrary: fc.record({
				kind: fc.constant("publish" as const),
				types: fc.array(fc.constantFrom(...TYPES), { minLength: 1, maxLength: 8, size: "max" }),
			}),
		},
		{ weight: 1, arbitrary: fc.record({ kind: fc.constant("reload" as const) }) },
		{ weight: 1, arbitrary: fc.record({ kind: fc.constant("width" as const), to: fc.integer({ min: 1, max: 6 }) }) },
		{ weight: 1, arbitrary: fc.record({ kind: fc.constant("subscribe" as const), types: fc.subarray(TYPES) }) },
		{ weight: 1, arbitrary: fc.record({ kind: fc.constant("resume" as const) }) },
		{ weight: 1, arbitrary: fc.record({ kind: fc.constant("crash" as const) }) },
	),
	{ maxLength: 150, size: "max" },
);

test("for any history, each event is started once and in order, and the stored position never passes an open one", () => {
	fc.assert(
		fc.property(steps, (series) => {
			const world = new World();
			for (const step of series) {
				if (step.kind === "take") world.take(step.window);
				else if (step.kind === "end") world.end(step.which);
				else if (step.kind === "putBack") world.putBack(step.which);
				else if (step.kind === "commit") world.commit(step.count);
				else if (step.kind === "position") world.uncommitted.push({ seq: null, progress: world.lane.progress });
				else if (step.kind === "publish")
					for (const type of step.types) world.log.push(eventOf(world.log.length + 1, type));
				else if (step.kind === "reload") world.reload();
				else if (step.kind === "width") {
					world.set({ maxInFlight: step.to });
					world.mostInFlight = Math.max(world.mostInFlight, step.to);
					world.reload();
				} else if (step.kind === "subscribe") {
					const { subscriptions } = world.stored;
					const from = (type: string) => subscriptions.get(type) ?? world.log.length;
					world.set({ subscriptions: new Map(step.types.map((type) => [type, from(type)])) });
					world.reload();
				} else if (step.kind === "resume") {
					// The lane learns of it when it is next reloaded.
					world.skipped = world.log.length;
					world.set({ position: world.log.length, open: [], skipThrough: world.log.length });
				} else world.crash();
				world.check();
			}
			// Finally everything pending is sent, however many may be in flight by then.
			world.reload();
			for (let turns = 0; turns <= 2 * world.log.length; turns++) {
				world.take(3);
				if (world.inFlight.length >= world.stored.maxInFlight || world.waiting.length === 0) world.end(0);
				world.commit(1);
			}
			// Commits of positions may have been waiting ahead of those of events.
			world.commit(world.uncommitted.length);
			expect([world.waiting, world.inFlight]).toEqual([[], []]);
			expect([...world.ended].sort((a, b) => a - b)).toEqual([...world.logged].sort((a, b) => a - b));
		}),
		{
			numRuns: 500,
			// More positions waited than the loop commits, so the event's commit was missing at the end.
			examples: [[[POSITION, POSITION, { kind: "publish", types: ["a"] }, POSITION]]],
		},
	);
});

test("a hanging event delays no other, and its stored state doesn't grow", () => {
	// At most 256 events were once sent beyond one that hung.
	const log = range(1, 2_000).map((seq) => eventOf(seq, "a"));
	const lane = new Lane("proj_1", stateOf({ maxInFlight: 2 }), KEYS);
	expect(start(lane, log, 128)).toBe(1);
	for (const seq of range(2, 2_000)) {
		expect(start(lane, log, 128)).toBe(seq);
		lane.firstEnded(seq);
	}
	expect(lane.progress).toEqual({ webhookId: "wh_1", position: 2_000, open: [1] });
	expect(start(lane, log, 128)).toBeNull();
	lane.firstEnded(1);
	expect(lane.progress).toEqual({ webhookId: "wh_1", position: 2_000, open: [] });
});

test("after a crash the open events are sent first, no more at a time than the owner now allows", () => {
	const log = range(1, 40).map((seq) => eventOf(seq, "a"));
	const open = range(1, 30).filter((seq) => seq % 2 === 1);
	const lane = new Lane("proj_1", stateOf({ maxInFlight: 3, position: 30, open }), KEYS);
	expect(lane.isBehind({ lastSeq: 30, announced: 0 })).toBe(true);
	const sent: number[] = [];
	for (let turns = 0; turns < 25; turns++) {
		const started: number[] = [];
		for (let seq = start(lane, log, 128); seq !== null; seq = start(lane, log, 128)) started.push(seq);
		expect(started.length).toBeLessThanOrEqual(3);
		sent.push(...started);
		for (const seq of started) lane.firstEnded(seq);
	}
	expect(sent).toEqual([...open, ...range(31, 40)]);
	expect(lane.isBehind({ lastSeq: 40, announced: 0 })).toBe(false);
});

test("skips an open event that is no longer in the log", () => {
	const log = range(1, 3).map((seq) => eventOf(seq, "a"));
	const lane = new Lane("proj_1", stateOf({ maxInFlight: 1, position: 3, open: [1, 2] }), KEYS);
	const withoutFirst = log.slice(1);
	lane.open.read([1, 2], Chunk.ofOpen(withoutFirst));
	expect(lane.peekEvent()?.seq).toBe(2);
	expect(lane.progress.open).toEqual([2]);
});

test("events that the owner skipped are closed up to that point, but no replays", () => {
	const lane = new Lane("proj_1", stateOf({ position: 7, skipThrough: 7 }), KEYS);
	const reason = (seq: number, replay = 0) => {
		const retry: Retry = { webhookId: "wh_1", seq, queue: "retry", replay, attempt: 2, dueAt: 0 };
		return lane.closingReason(retry, "a");
	};
	expect([reason(6), reason(7), reason(8), reason(7, 1)]).toEqual(["skipped", "skipped", null, null]);
});

const retryOf = (about: Partial<Retry>): Retry => {
	return { webhookId: "wh_1", seq: 1, queue: "retry", replay: 0, attempt: 2, dueAt: 0, ...about };
};

const laneOf = (about: Partial<LaneState>): Lane => new Lane("proj_1", stateOf(about), KEYS);

test("a subscription starts after the last event at the time of subscribing", () => {
	const log = range(1, 4).map((seq) => eventOf(seq, "a"));
	const lane = laneOf({ subscriptions: new Map([["a", 2]]) });
	expect([start(lane, log, 128), start(lane, log, 128), start(lane, log, 128)]).toEqual([3, 4, null]);
});

test("attempts in flight at a previous owner are not sent until that node is gone", () => {
	const log = range(1, 3).map((seq) => eventOf(seq, "a"));
	const lane = laneOf({ maxInFlight: 2, position: 2, open: [1, 2] });
	const attempt = { webhookId: "wh_1", seq: 1, replay: 0, queue: null, until: 1_000 };
	const retry = { webhookId: "wh_1", seq: 7, replay: 1, queue: "replay", until: 1_000 } as const;
	lane.inFlightElsewhere([attempt, retry]);
	expect(lane.isInFlight(retryOf({ seq: 7, replay: 1 }))).toBe(true);
	expect([start(lane, log, 128), start(lane, log, 128)]).toEqual([2, null]);
	lane.firstEnded(2);
	lane.inFlightElsewhere([]);
	expect(lane.isInFlight(retryOf({ seq: 7, replay: 1 }))).toBe(false);
	expect([start(lane, log, 128), start(lane, log, 128)]).toEqual([1, 3]);
});

test("committing a series leaves the delivery's next one in flight", () => {
	const lane = laneOf({});
	const [before, next] = [retryOf({ replay: 0 }), retryOf({ replay: 1 })];
	lane.queuedStarted(before);
	lane.queuedEnded(before);
	lane.queuedStarted(next);
	lane.queuedCommitted(before);
	expect(lane.isInFlight(next)).toBe(true);
});

test("a lane is due when its first due queue is", () => {
	const lane = laneOf({});
	for (const name of ["retry", "replay", "requested"] as const) {
		const queue = lane.queue(name);
		queue.endLoad([], queue.beginLoad(0), () => false);
	}
	lane.queue("retry").add(retryOf({ seq: 1, dueAt: 300 }));
	lane.queue("replay").add(retryOf({ seq: 2, dueAt: 100 }));
	expect(lane.nextDueAt).toBe(100);
});

test("a lane that found too many reads in flight is checked again when any of them ends", () => {
	const lane = laneOf({});
	lane.awaits = ANY_READ;
	expect(lane.windowRead("another", null)).toBe(true);
	expect(lane.awaits).toBeNull();
	lane.awaits = "its own";
	expect(lane.windowRead("another", null)).toBe(false);
});
