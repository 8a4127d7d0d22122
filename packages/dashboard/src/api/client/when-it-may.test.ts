import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ApiError } from "./error.ts";
import { whenItMay } from "./when-it-may.ts";

beforeEach(() => {
	vi.useFakeTimers();
	vi.stubGlobal("window", globalThis);
});
afterEach(() => {
	vi.useRealTimers();
	vi.unstubAllGlobals();
});

const problem = (status: number) => ({ type: "about:blank", title: "", status, detail: "", errors: [] });

/** A call that is refused the first time, and how often it was made. */
function refusedOnce(error: unknown) {
	const call = vi.fn<() => Promise<string>>();
	call.mockRejectedValueOnce(error).mockResolvedValue("done");
	return call;
}

// A list of thousands of webhooks has many pages; the page that was refused made the whole list fail.
test("repeats a refused call after the time that the service names", async () => {
	const call = refusedOnce(new ApiError(problem(429), 3));
	const result = whenItMay(call, new AbortController().signal);
	await vi.advanceTimersByTimeAsync(2_999);
	expect(call).toHaveBeenCalledTimes(1);
	await vi.advanceTimersByTimeAsync(1);
	expect(await result).toBe("done");
	expect(call).toHaveBeenCalledTimes(2);
});

test("ends when it is aborted meanwhile, and passes on other errors", async () => {
	const abort = new AbortController();
	const call = refusedOnce(new ApiError(problem(429), 3));
	const result = whenItMay(call, abort.signal);
	await vi.advanceTimersByTimeAsync(0);
	abort.abort();
	expect(await result).toBeNull();
	expect(call).toHaveBeenCalledTimes(1);
	await expect(whenItMay(refusedOnce(new ApiError(problem(503), 3)), abort.signal)).rejects.toThrow(ApiError);
	// A step of a replay isn't aborted itself, so it may be refused only afterwards.
	expect(await whenItMay(refusedOnce(new ApiError(problem(429), 3)), abort.signal)).toBeNull();
});
