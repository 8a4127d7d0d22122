import { signingKey } from "@posthorn/protocol";
import { expect, test } from "vitest";
import type { LaneState, LogEvent } from "../../storage/port.ts";
import { Chunk } from "./chunk.ts";
import { Lane } from "./lane.ts";

const TYPE = "purchase.completed";
/** As many events as may be settled beyond the oldest one under way. */
const MAX_AHEAD = 256;

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i);

function lane(state: Partial<LaneState>): Lane {
	const stored: LaneState = {
		webhookId: "wh_1",
		url: "https://receiver.example/",
		status: "active",
		maxInFlight: 5,
		sealedDigest: new Uint8Array(),
		subscriptions: new Map([[TYPE, 0]]),
		cursor: 0,
		ahead: [],
		skipThrough: 0,
		...state,
	};
	return new Lane("proj_1", stored, signingKey(Buffer.alloc(32)), 50);
}

/** The log from its beginning up to `last`. */
function log(last: number): Chunk {
	const events = range(1, last).map(
		(seq): LogEvent => ({ seq, id: `evt_${seq}`, type: TYPE, createdAt: 0, publishedAt: 0, body: Buffer.from("{}") }),
	);
	return new Chunk(0, last, events, TYPE);
}

/** Takes up the next event, if the lane may. @returns its `seq` */
function start(lane: Lane): number | null {
	const event = lane.mayStartFirst ? lane.peekEvent() : undefined;
	if (!event) return null;
	lane.takeEvent(event);
	return event.seq;
}

test("behind an event that hangs only so many others are sent, until it is over", () => {
	const wide = lane({});
	wide.use(log(300));
	expect(start(wide)).toBe(1);
	const beyond: number[] = [];
	for (let seq = start(wide); seq !== null; seq = start(wide)) {
		beyond.push(seq);
		wide.firstEnded(seq);
	}
	expect(beyond).toEqual(range(2, MAX_AHEAD + 1));
	expect([wide.cursor, wide.ahead.length]).toEqual([0, MAX_AHEAD]);
	wide.firstEnded(1);
	expect([wide.cursor, wide.ahead.length]).toEqual([MAX_AHEAD + 1, 0]);
	expect(start(wide)).toBe(MAX_AHEAD + 2);
});

test("after a crash behind an event that hung, it is sent first and the lane goes on", () => {
	// With as many settled beyond it as may be, the lane once sent nothing more, for ever.
	const again = lane({ ahead: range(2, MAX_AHEAD + 1) });
	again.use(log(300));
	expect(start(again)).toBe(1);
	expect(start(again)).toBeNull();
	again.firstEnded(1);
	expect(start(again)).toBe(MAX_AHEAD + 2);
	expect([again.cursor, again.ahead]).toEqual([MAX_AHEAD + 1, []]);
	expect(start(again)).toBe(MAX_AHEAD + 3);
});
