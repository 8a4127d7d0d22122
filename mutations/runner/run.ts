import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Copy } from "./copy.ts";
import type { Chosen } from "./options.ts";
import type { Verdict } from "./verdict.ts";
import { runTests, type TestRun } from "./vitest.ts";

/** For tests without any fault: for each, as long as in vitest.config.ts. */
const UNHURRIED = { testTimeoutMs: 180_000, timeoutMs: 600_000 };

/** Runs `work` with a folder that is removed afterwards. */
export async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
	const folder = mkdtempSync(join(tmpdir(), "posthorn-mutate-"));
	// PostgreSQL's user reads files in it.
	chmodSync(folder, 0o755);
	const remove = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
	process.once("exit", remove);
	try {
		return await work(folder);
	} finally {
		process.off("exit", remove);
		remove();
	}
}

/** One per mutation tried concurrently. */
export const copies = (root: string, folder: string, count: number): Copy[] =>
	Array.from({ length: count }, (_, i) => new Copy(root, join(folder, String(i + 1))));

/**
 * The tests must pass without any fault; otherwise their failure would mean nothing.
 *
 * @returns what is wrong, one line each
 */
export async function tryWithout([first, ...others]: readonly Copy[], chosen: readonly Chosen[]): Promise<string[]> {
	const tests = [...new Set(chosen.flatMap(({ mutation }) => mutation.tests))];
	const { result, ran, failed, output } = await runTests(first!.folder, tests, {
		...UNHURRIED,
		workers: 1 + others.length,
	});
	if (result !== "passed") return [`without any mutation the tests do not pass: ${failed ?? output}`];
	return chosen.flatMap(({ mutation: { name, only } }) => {
		const isFound = only === undefined || ran.some((test) => new RegExp(only).test(test));
		return isFound ? [] : [`${name}: no test has a name like ${only}`];
	});
}

/** Whether the mutation kept its tests from ending, rather than a slow machine: without it they take half the time. */
const isMuchSooner = (without: TestRun, run: TestRun): boolean =>
	without.result === "passed" && 2 * without.ms <= run.ms;

/** Tries all mutations, and reports each verdict. */
export async function tryAll(
	places: readonly Copy[],
	chosen: readonly Chosen[],
	onVerdict: (verdict: Verdict) => void,
): Promise<void> {
	const left = chosen.values();
	const work = async (copy: Copy): Promise<void> => {
		for (const { area, mutation } of left) {
			const restore = copy.apply(mutation);
			const runIt = () => runTests(copy.folder, mutation.tests, { only: mutation.only, bail: true });
			let run = await runIt();
			// No test is known to hang, so the machine itself may have stopped for a while.
			if (run.result === "late" && run.failed === null) run = await runIt();
			restore();
			const isCaught = run.result === "failed" || (run.result === "late" && isMuchSooner(await runIt(), run));
			onVerdict({ area, mutation, run, isCaught });
		}
	};
	await Promise.all(places.map(work));
}
