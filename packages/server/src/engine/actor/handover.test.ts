import { expect, test } from "vitest";
import { VirtualClock } from "../../../../testkit/src/virtual-clock.ts";
import type { InFlight } from "./attempt.ts";
import type { ActorContext } from "./context.ts";
import { Handover } from "./handover.ts";

test("an attempt that waited before its request was written stays handed over until its deadline", () => {
	const clock = new VirtualClock();
	const context = { clock, attemptTimeoutMs: 15_000 } as unknown as ActorContext;
	const lane = { progress: { webhookId: "whk", position: 1, open: [1] } };
	clock.advance(60_000);
	const inFlight = {
		lane,
		seq: 1,
		replay: 0,
		retry: null,
		writtenAt: clock.elapsed(),
	} as unknown as InFlight;
	clock.advance(500);
	const { attempts } = new Handover(context, { projectId: "proj", generation: 1 }, [inFlight]);
	// The commit gets five more seconds.
	expect(attempts.map(({ seq, until }) => [seq, until - clock.now()])).toEqual([[1, 14_500 + 5_000]]);
});

test("an attempt that ends before the lease is released is settled after the release, and the next owner is notified", async () => {
	const calls: string[] = [];
	const context = {
		clock: new VirtualClock(),
		attemptTimeoutMs: 15_000,
		storage: {
			settleHandedOver: async () => {
				calls.push("settled");
				return "settled";
			},
		},
		observer: {},
		onHandedOverSettled: () => calls.push("told"),
	} as unknown as ActorContext;
	const lane = { progress: { webhookId: "whk", position: 1, open: [1] } };
	const inFlight = {
		lane,
		seq: 1,
		replay: 0,
		retry: null,
		writtenAt: 0,
		ended: () => calls.push("ended"),
	} as unknown as InFlight;
	const handover = new Handover(context, { projectId: "proj", generation: 1 }, [inFlight]);
	expect(handover.ended(inFlight, { kind: "cancelled" })).toBe(true);
	await new Promise(setImmediate);
	expect(calls).toEqual(["ended"]);
	calls.push("released");
	handover.released();
	await handover.over;
	expect(calls).toEqual(["ended", "released", "settled", "told"]);
});
