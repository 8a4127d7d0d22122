import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { PATIENCE_MS, until, within } from "./until.ts";

const LONGER_THAN_PATIENCE_MS = PATIENCE_MS + 1;

beforeEach(() => {
	vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(() => {
	vi.useRealTimers();
});

// They waited until the test's own timeout, which doesn't say for what.
test.for([
	["until", () => until("a reply", () => new Promise<boolean>(() => undefined))],
	["within", () => within("a reply", new Promise(() => undefined))],
] as const)("%s gives up on a promise that never settles", async ([, wait]) => {
	const given = expect(wait()).rejects.toThrow(`Waited for ${PATIENCE_MS / 1_000} s for a reply.`);
	await vi.advanceTimersByTimeAsync(LONGER_THAN_PATIENCE_MS);
	await given;
});

test("until stops asking once it has given up", async () => {
	let asked = 0;
	const given = expect(
		until("a reply", () => {
			asked++;
			return false;
		}),
	).rejects.toThrow(`Waited for ${PATIENCE_MS / 1_000} s for a reply.`);
	while (asked < 20) await vi.advanceTimersByTimeAsync(1);
	await vi.advanceTimersByTimeAsync(LONGER_THAN_PATIENCE_MS);
	await given;
	const before = asked;
	await vi.advanceTimersByTimeAsync(LONGER_THAN_PATIENCE_MS);
	expect(asked).toBeLessThanOrEqual(before + 1);
});
