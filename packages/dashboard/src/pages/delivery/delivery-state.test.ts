import { expect, it } from "vitest";
import { stateOf } from "./delivery-state.ts";

const NEXT = "2026-11-21T14:04:11.000Z";
const retried = { status: "retrying", next_retry_at: NEXT } as const;
const failed = { status: "failed", next_retry_at: null } as const;

it("goes by the delivery rather than by the attempt that is looked at", () => {
	const delivered = { state: "delivered", attempt: 3, next_retry_at: null } as const;
	expect(stateOf(retried, delivered)).toEqual({ outcome: "delivered", word: "Delivered", over: true, nextAt: null });
	const again = { state: "attempting", attempt: 1, next_retry_at: NEXT } as const;
	expect(stateOf(failed, again)).toEqual({ outcome: "waiting", word: "On its way", over: false, nextAt: NEXT });
});

it("says when the next attempt is due, as the service plans it", () => {
	const waiting = { state: "attempting", attempt: 3, next_retry_at: null } as const;
	expect(stateOf(retried, waiting)).toMatchObject({ outcome: "retrying", over: false, nextAt: null });
	expect(stateOf(retried, { ...waiting, next_retry_at: NEXT }).nextAt).toBe(NEXT);
});

it.each([null, undefined])("takes from the attempt what it can while the delivery is %s", (delivery) => {
	expect(stateOf(retried, delivery)).toMatchObject({ outcome: "retrying", nextAt: NEXT });
	expect(stateOf(failed, delivery)).toMatchObject({ outcome: "failed", over: true });
	expect(stateOf({ ...failed, status: "delivered" }, delivery)).toMatchObject({ outcome: "delivered", over: true });
});

it("calls what is dead-lettered failed", () => {
	expect(stateOf(failed, { state: "dead_lettered", attempt: 8, next_retry_at: null }).word).toBe("Failed");
});
