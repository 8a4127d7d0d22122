import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Lease } from "../src/lease.ts";
import { memoryStore } from "../src/stores/memory.ts";

const LEASE_MS = 30_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

// It aborted with the renewal after that, up to a third of a lease too late.
it("aborts its signal when it ends, even between a renewal that took long to fail and the next", async () => {
	const errors: unknown[] = [];
	const outage = new Error("down");
	const renew = () => new Promise<boolean>((_, reject) => setTimeout(() => reject(outage), 19_000));
	const store = { ...memoryStore(), renew };
	const onError = (error: unknown) => errors.push(error);
	const lease = new Lease({ store, key: "evt_1", token: "a", leaseMs: LEASE_MS, onError }, performance.now());
	await vi.advanceTimersByTimeAsync(LEASE_MS - 1);
	expect([errors, lease.signal.aborted]).toEqual([[outage], false]);
	await vi.advanceTimersByTimeAsync(1);
	expect(lease.signal.aborted).toBe(true);
	lease.end();
});
