import { VirtualClock } from "@posthorn/testkit/virtual-clock";
import { expect, test } from "vitest";
import { type Clock, momentOf } from "../../base/clock.ts";
import { HeldLease } from "./lease.ts";

const LEASE = { projectId: "proj_1", generation: 1, expiresAt: 0 };
const TERM_MS = 10_000;

// Timers may fire a millisecond early by the monotonic clock, and nothing else would check again.
test("a suspended lease opens when its timer fires, even if the clock is slightly behind", () => {
	let now = 0;
	let fire = (): void => undefined;
	const clock: Clock = {
		now: () => now,
		elapsed: () => now,
		setTimeout: (callback) => {
			fire = callback;
			return { cancel: () => undefined };
		},
		setImmediate,
	};
	let opened = 0;
	const lease = new HeldLease({ clock, leaseTermMs: TERM_MS }, LEASE, { now: 0, elapsed: 0 }, () => {
		opened += 1;
	});
	now = TERM_MS;
	lease.continueAs(LEASE, TERM_MS);
	lease.renewed(LEASE, { now: 2 * TERM_MS - 2, elapsed: 2 * TERM_MS - 2 });
	opened = 0;
	now = 2 * TERM_MS - 1;
	expect([lease.isSuspended, lease.isTrusted]).toEqual([true, false]);
	fire();
	expect([opened, lease.isSuspended, lease.isTrusted]).toEqual([1, false, true]);
});

test("a lease is trusted until a margin before its end, so that clock drift can't let two nodes send", () => {
	const clock = new VirtualClock();
	const lease = { projectId: "proj", generation: 1, expiresAt: clock.now() + 10_000 };
	const held = new HeldLease({ clock, leaseTermMs: 10_000 }, lease, momentOf(clock), () => undefined);
	clock.advance(7_900);
	expect(held.isTrusted).toBe(true);
	clock.advance(100);
	expect(held.isTrusted).toBe(false);
	held.renewed(lease, momentOf(clock));
	expect(held.isTrusted).toBe(true);
});
