import { expect, it } from "vitest";
import { prospectOf, stateOf } from "./delivery-state.ts";

const NEXT = "2026-11-21T14:04:11.000Z";
const retried = { status: "retrying", next_retry_at: NEXT } as const;
const failed = { status: "failed", next_retry_at: null } as const;
const attempting = { state: "attempting", attempt: 3, next_retry_at: NEXT } as const;

it("uses the delivery rather than the selected attempt", () => {
	const delivered = { state: "delivered", attempt: 3, next_retry_at: null } as const;
	expect(stateOf(retried, delivered)).toMatchObject({ word: "Delivered", over: true, nextAt: null });
	expect(stateOf(failed, { ...attempting, attempt: 1 })).toMatchObject({ word: "On its way", over: false });
});

it("says when the service plans the next attempt", () => {
	expect(stateOf(retried, attempting)).toMatchObject({ outcome: "retrying", word: "Waiting", nextAt: NEXT });
	const inFlight = { ...attempting, next_retry_at: null };
	expect(stateOf(retried, inFlight)).toMatchObject({ word: "Being sent", nextAt: null });
});

it("can be retried now while the next attempt waits for its time", () => {
	expect(stateOf(retried, attempting).canRetry).toBe(true);
	expect(stateOf(retried, { ...attempting, next_retry_at: null }).canRetry).toBe(false);
	expect(stateOf(failed, { ...attempting, attempt: 1 }).canRetry).toBe(false);
	expect(stateOf(retried, { state: "delivered", attempt: 3, next_retry_at: null }).canRetry).toBe(false);
	expect(stateOf(retried, null).canRetry).toBe(false);
});

it("isn't sent while its webhook is paused", () => {
	const words = { word: "Waiting", canRetry: false, hold: "paused" };
	expect(stateOf(retried, attempting, "paused")).toMatchObject(words);
	expect(stateOf(retried, { ...attempting, next_retry_at: null }, "paused")).toMatchObject(words);
	expect(stateOf(failed, { ...attempting, attempt: 1 }, "paused")).toMatchObject(words);
	expect(stateOf(retried, attempting, "paused").refusal).toMatch(/paused/);
	expect(stateOf(retried, null, "paused").hold).toBeNull();
});

// It showed the time of a retry that can't be sent.
it("isn't sent while its webhook's secret can't be read", () => {
	const words = { word: "Waiting", canRetry: false, hold: "unsigned" };
	expect(stateOf(retried, attempting, "unsigned")).toMatchObject(words);
	expect(stateOf(retried, attempting, "unsigned").refusal).toMatch(/secret/);
});

it("can be dismissed once it has failed for good", () => {
	const dead = { state: "dead_lettered", attempt: 8, next_retry_at: null } as const;
	expect(stateOf(failed, dead).canDismiss).toBe(true);
	expect(stateOf(failed, { ...dead, dismissed: true })).toMatchObject({ word: "Dismissed", refusal: null });
	expect(stateOf(failed, { ...dead, dismissed: true }).canDismiss).toBeFalsy();
	expect(stateOf(failed, undefined).canDismiss).toBeFalsy();
	expect(stateOf(retried, attempting).canDismiss).toBeFalsy();
});

it("uses the attempt until the delivery is known", () => {
	expect(stateOf(retried, undefined)).toMatchObject({ outcome: "retrying", over: false, nextAt: NEXT });
	expect(stateOf(failed, undefined)).toMatchObject({ outcome: "failed", over: true });
});

it("promises nothing for a delivery that no longer exists", () => {
	expect(stateOf(retried, null)).toMatchObject({ word: "Won't be retried", over: true, nextAt: null });
	expect(stateOf(failed, null).word).toBe("Failed");
	expect(stateOf({ ...failed, status: "delivered" }, null).word).toBe("Delivered");
});

it("says what advice depends on, whichever attempt is selected", () => {
	const delivered = { state: "delivered", attempt: 1, next_retry_at: null } as const;
	expect(prospectOf(stateOf(failed, delivered))).toBe("delivered");
	expect(prospectOf(stateOf(failed, { ...attempting, attempt: 1 }))).toBe("open");
	expect(prospectOf(stateOf(retried, attempting, "paused"))).toBe("paused");
	expect(prospectOf(stateOf(retried, attempting, "unsigned"))).toBe("unsigned");
	expect(prospectOf(stateOf(retried, { ...delivered, state: "dead_lettered" }))).toBe("over");
});

it("says why it can't be replayed", () => {
	expect(stateOf(retried, attempting).refusal).toMatch(/still being attempted/);
	expect(stateOf(failed, null).refusal).toMatch(/deleted/);
	expect(stateOf(failed, { state: "dead_lettered", attempt: 8, next_retry_at: null }).refusal).toBeNull();
});
