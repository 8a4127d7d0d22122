import { VirtualClock } from "@posthorn/testkit/virtual-clock";
import { expect, test } from "vitest";
import { Seal } from "../../base/seal.ts";
import type { LaneState } from "../../storage/port.ts";
import { WindowBudget } from "../lanes/window-budget.ts";
import type { ActorContext } from "./context.ts";
import { LaneSet } from "./lane-set.ts";

const seal = new Seal(new Uint8Array(32));

function setUp() {
	const clock = new VirtualClock();
	const context = { clock, seal, budget: new WindowBudget(), eventTypes: 2 } as unknown as ActorContext;
	return { clock, lanes: new LaneSet("proj_1", context) };
}

const stateOf = (webhookId: string, position = 0): LaneState => ({
	webhookId,
	url: `https://${webhookId}.example/`,
	status: "active",
	maxInFlight: 1,
	sealedDigest: seal.seal(new Uint8Array(32), webhookId),
	subscriptions: new Map([["a", 0]]),
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

test("a project is idle once every lane has reached the end of its log; until then it wakes immediately", () => {
	const { clock, lanes } = setUp();
	lanes.load([stateOf("a", 5), stateOf("b", 3)], null);
	for (const lane of lanes) {
		lane.sweeping = false;
		// Its queues are empty.
		for (const name of ["requested", "retry", "replay"] as const) {
			const queue = lane.queue(name);
			queue.endLoad([], queue.beginLoad(0), () => false);
		}
	}
	expect([lanes.isIdle(3), lanes.wakeAt(3)]).toEqual([true, null]);
	expect([lanes.isIdle(5), lanes.wakeAt(5)]).toEqual([false, clock.now()]);
	lanes.get("a")?.queue("retry").add({ webhookId: "a", seq: 1, queue: "retry", replay: 0, attempt: 2, dueAt: 2_000 });
	lanes.get("b")?.queue("retry").add({ webhookId: "b", seq: 1, queue: "retry", replay: 0, attempt: 2, dueAt: 1_000 });
	expect(lanes.wakeAt(3)).toBe(1_000);
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
		if (looked.length === 2) lanes.mark(lanes.get("a"));
	};
	for (const webhookId of ["b", "a", "c"]) lanes.mark(lanes.get(webhookId));
	lanes.lookAtMarked(look, 2);
	expect([looked, lanes.hasMarked]).toEqual([["b", "a"], true]);
	lanes.mark(lanes.get("b"));
	lanes.mark(lanes.get("c"));
	lanes.lookAtMarked(look, 10);
	expect([looked, lanes.hasMarked]).toEqual([["b", "a", "c", "b"], false]);
});
