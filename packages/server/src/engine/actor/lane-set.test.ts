import { VirtualClock } from "@posthorn/testkit/virtual-clock";
import { expect, test, vi } from "vitest";
import { PROJECTS } from "../../base/budgets.ts";
import { silentLogger } from "../../base/logger.ts";
import { Seal } from "../../base/seal.ts";
import type { LaneState, LogEvent } from "../../storage/port.ts";
import { WindowBudget } from "../lanes/log-reader.ts";
import { SigningKeys } from "../signing-keys.ts";
import type { ActorContext } from "./context.ts";
import { LaneSet } from "./lane-set.ts";

const seal = new Seal([new Uint8Array(32)]);

/** Nothing is left for a lane in a log that ends here. */
const caughtUp = () => ({ lastSeq: 0, announced: 0, enter() {}, leave() {} });

function setUp() {
	const clock = new VirtualClock();
	const keys = new SigningKeys(seal, silentLogger);
	const context = { clock, keys, budget: new WindowBudget() } as unknown as ActorContext;
	const log = caughtUp();
	return { clock, keys, log, lanes: new LaneSet("proj_1", context, log) };
}

const stateOf = (webhookId: string, position = 0, type = "a"): LaneState => ({
	webhookId,
	url: `https://${webhookId}.example/`,
	status: "active",
	maxInFlight: 1,
	sealedDigest: seal.seal(new Uint8Array(32), webhookId),
	subscriptions: new Map([[type, 0]]),
	position,
	open: [],
	skipThrough: 0,
});

test("returns lanes that storage no longer has, among all or the one that was read", () => {
	const { lanes } = setUp();
	const names = (missing: Iterable<{ readonly webhookId: string }>) => [...missing].map(({ webhookId }) => webhookId);
	expect(names(lanes.load([stateOf("a"), stateOf("b"), stateOf("c")], null))).toEqual([]);
	expect(names(lanes.load([stateOf("a")], "a"))).toEqual([]);
	expect(names(lanes.load([], "b"))).toEqual(["b"]);
	expect(names(lanes.load([stateOf("b")], null))).toEqual(["a", "c"]);
});

// A project with 5,000 webhooks once held the event loop for 100 ms while it was loaded.
test("opens many secrets a few per turn of the event loop, and only those that changed", async () => {
	const { lanes, keys } = setUp();
	const states = Array.from({ length: 3 * PROJECTS.secretsPerTurn }, (_, n) => stateOf(`wh_${n}`));
	const open = vi.spyOn(keys, "open");
	const openings = lanes.openKeys(states)!;
	const perTurn: number[] = [];
	for (let before = 0; open.mock.calls.length > before; ) {
		perTurn.push(open.mock.calls.length - before);
		before = open.mock.calls.length;
		await new Promise((resolve) => setImmediate(resolve));
	}
	expect(Math.max(...perTurn)).toBeLessThanOrEqual(PROJECTS.secretsPerTurn);
	lanes.load(states, null, await openings);
	expect(open).toHaveBeenCalledTimes(states.length);
	expect(lanes.openKeys(states)).toBeNull();
	const others = [stateOf("wh_0"), ...states.slice(1)];
	expect(lanes.openKeys(others)).toBeNull();
	lanes.load(others, null);
	expect(open).toHaveBeenCalledTimes(states.length + 1);
});

test("a project is idle once every lane has reached the end of its log; until then it wakes immediately", () => {
	const { clock, log, lanes } = setUp();
	lanes.load([stateOf("a", 5), stateOf("b", 3)], null);
	for (const lane of lanes) {
		lane.sweeping = false;
		// Its queues are empty.
		for (const name of ["requested", "retry", "replay"] as const) {
			const queue = lane.queue(name);
			queue.endLoad([], queue.beginLoad(0), () => false);
		}
	}
	log.lastSeq = 3;
	expect([lanes.isIdle(), lanes.wakeAt()]).toEqual([true, null]);
	log.lastSeq = 5;
	expect([lanes.isIdle(), lanes.wakeAt()]).toEqual([false, clock.now()]);
	lanes.get("a")?.queue("retry").add({ webhookId: "a", seq: 1, queue: "retry", replay: 0, attempt: 2, dueAt: 2_000 });
	lanes.get("b")?.queue("retry").add({ webhookId: "b", seq: 1, queue: "retry", replay: 0, attempt: 2, dueAt: 1_000 });
	log.lastSeq = 3;
	expect(lanes.wakeAt()).toBe(1_000);
});

test("an event is announced only to the lanes that follow the log and want it", () => {
	const { log, lanes } = setUp();
	lanes.load([stateOf("wants", 7), stateOf("behind", 3), stateOf("other", 7, "b")], null);
	for (const name of ["wants", "other"]) lanes.get(name)!.follow(caughtUp());
	Object.assign(log, { lastSeq: 10, announced: 7 });
	lanes.announce([8, 9, 10].map((seq) => ({ seq, type: "a" }) as LogEvent));
	const looked: string[] = [];
	lanes.lookAtMarked(({ webhookId }) => looked.push(webhookId), 10);
	expect(looked).toEqual(["wants"]);
	expect(["wants", "behind", "other"].map((name) => lanes.get(name)!.position)).toEqual([7, 3, 7]);
	// The other lane moves past all three when its own event comes.
	log.lastSeq = 11;
	lanes.announce([{ seq: 11, type: "b" } as LogEvent]);
	expect(lanes.get("other")!.position).toBe(10);
	expect(log.announced).toBe(11);
});

test("events of unknown types are announced to all lanes", () => {
	const { log, lanes } = setUp();
	lanes.load([stateOf("a", 7), stateOf("b", 5, "b")], null);
	for (const lane of lanes) lane.follow(caughtUp());
	Object.assign(log, { lastSeq: 9, announced: 8 });
	lanes.announceAll();
	const looked: [string, number][] = [];
	lanes.lookAtMarked(({ webhookId, position }) => looked.push([webhookId, position]), 10);
	expect(looked).toEqual([
		["a", 8],
		["b", 8],
	]);
});

test("visits marked lanes in order, a limited number at a time, including those marked meanwhile", () => {
	const { lanes } = setUp();
	lanes.load(
		["a", "b", "c"].map((webhookId) => stateOf(webhookId)),
		null,
	);
	const looked: string[] = [];
	const look = (lane: { readonly webhookId: string }): void => {
		looked.push(lane.webhookId);
		if (looked.length === 2) lanes.mark(lanes.get("a")!);
	};
	for (const webhookId of ["b", "a", "c"]) lanes.mark(lanes.get(webhookId)!);
	lanes.lookAtMarked(look, 2);
	expect([looked, lanes.hasMarked]).toEqual([["b", "a"], true]);
	lanes.mark(lanes.get("b")!);
	lanes.mark(lanes.get("c")!);
	lanes.lookAtMarked(look, 10);
	expect([looked, lanes.hasMarked]).toEqual([["b", "a", "c", "b"], false]);
});
