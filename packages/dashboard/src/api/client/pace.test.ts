import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Pace } from "./pace.ts";

beforeEach(() => {
	vi.useFakeTimers();
	vi.stubGlobal("window", globalThis);
});
afterEach(() => {
	vi.useRealTimers();
	vi.unstubAllGlobals();
});

/** Runs that end by hand. */
function runs() {
	const open: (() => void)[] = [];
	const pace = new Pace<string>(() => new Promise<void>((resolve) => open.push(resolve)));
	return { open, pace };
}

test("runs immediately, and then at most twice a second", async () => {
	const { open, pace } = runs();
	pace.want("health");
	await vi.advanceTimersByTimeAsync(0);
	expect(open).toHaveLength(1);
	open[0]?.();
	pace.want("health");
	pace.want("health");
	await vi.advanceTimersByTimeAsync(499);
	expect(open).toHaveLength(1);
	await vi.advanceTimersByTimeAsync(1);
	expect(open).toHaveLength(2);
});

// With thousands of webhooks a request for their health took longer than the time between two hints, and each hint
// cancelled it: the page stayed outdated as long as deliveries were made.
test("lets a run end before the next one, and rests in proportion", async () => {
	const { open, pace } = runs();
	pace.want("health");
	await vi.advanceTimersByTimeAsync(0);
	for (let ms = 0; ms < 2_000; ms += 100) {
		pace.want("health");
		await vi.advanceTimersByTimeAsync(100);
	}
	expect(open).toHaveLength(1);
	open[0]?.();
	await vi.advanceTimersByTimeAsync(5_999);
	expect(open).toHaveLength(1);
	await vi.advanceTimersByTimeAsync(1);
	expect(open).toHaveLength(2);
});

test("one key doesn't wait for another, and stopping drops what is wanted", async () => {
	const { open, pace } = runs();
	pace.want("health");
	pace.want("attempts");
	await vi.advanceTimersByTimeAsync(0);
	expect(open).toHaveLength(2);
	pace.want("health");
	pace.stop();
	open[0]?.();
	await vi.advanceTimersByTimeAsync(60_000);
	expect(open).toHaveLength(2);
});
