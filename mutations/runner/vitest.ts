import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { PACKAGES } from "./apply.ts";

/** For a test, and for its hooks, milliseconds, because a fault may make it wait forever. */
const TEST_TIMEOUT_MS = 20_000;
/** For all tests of a mutation. */
const RUN_TIMEOUT_MS = 60_000;
/** The maximum length of the output, characters. */
const KEPT = 20_000;
/** Vitest's report on a test, or on a hook. */
const TIMED_OUT = /(Test|Hook) timed out in \d+ms/;

export interface TestRun {
	/** `late`: the tests, or one of them, didn't end in time. */
	readonly result: "passed" | "failed" | "late";
	/** The full names of the tests that ran, and of the first that failed. */
	readonly ran: readonly string[];
	readonly failed: string | null;
	readonly output: string;
	readonly ms: number;
}

/** The parts of Vitest's JSON report that are used here. */
interface Report {
	readonly testResults: readonly {
		readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
	}[];
}

export interface TestOptions {
	/** A regular expression for the full names of tests. */
	readonly only?: string | undefined;
	/** Stops at the first failure. */
	readonly bail?: boolean;
	/** Test files to run concurrently. */
	readonly workers?: number;
	/** For a test, and for all of them, milliseconds. */
	readonly testTimeoutMs?: number;
	readonly timeoutMs?: number;
}

/** Runs test files in a copy of the checkout. */
export async function runTests(folder: string, tests: readonly string[], options: TestOptions): Promise<TestRun> {
	const { only, bail = false, workers = 1, testTimeoutMs = TEST_TIMEOUT_MS, timeoutMs = RUN_TIMEOUT_MS } = options;
	const begun = Date.now();
	const report = join(folder, "test-report.json");
	rmSync(report, { force: true });
	const args = [
		join(folder, "node_modules/vitest/vitest.mjs"),
		"run",
		...tests.map((test) => join(PACKAGES, test)),
		"--reporter=default",
		"--reporter=json",
		`--outputFile.json=${report}`,
		`--maxWorkers=${workers}`,
		`--testTimeout=${testTimeoutMs}`,
		`--hookTimeout=${testTimeoutMs}`,
		...(bail ? ["--bail=1"] : []),
		...(only === undefined ? [] : ["-t", only]),
	];
	const ending = await run(folder, args, timeoutMs);
	return { ...ending, ...readReport(report), ms: Date.now() - begun };
}

function readReport(path: string): Pick<TestRun, "ran" | "failed"> {
	// A run that hung or couldn't start leaves no report.
	if (!existsSync(path)) return { ran: [], failed: null };
	const { testResults } = JSON.parse(readFileSync(path, "utf8")) as Report;
	const all = testResults.flatMap(({ assertionResults }) => assertionResults);
	const names = (...statuses: string[]) =>
		all.filter(({ status }) => statuses.includes(status)).map(({ fullName }) => fullName);
	return { ran: names("passed", "failed"), failed: names("failed")[0] ?? null };
}

function run(folder: string, args: readonly string[], timeoutMs: number): Promise<Pick<TestRun, "result" | "output">> {
	// In its own process group, because tests start processes too.
	const child = spawn(process.execPath, args, {
		cwd: folder,
		detached: true,
		stdio: ["ignore", "pipe", "pipe"],
		env: { ...process.env, NO_COLOR: "1", POSTHORN_TEST_SHRINK: "off" },
	});
	let output = "";
	for (const stream of [child.stdout, child.stderr])
		stream.setEncoding("utf8").on("data", (text: string) => {
			output = (output + text).slice(-KEPT);
		});
	const kill = (): void => {
		try {
			if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
		} catch {
			// The whole group has ended.
		}
	};
	process.once("exit", kill);
	return new Promise((resolve, reject) => {
		let isLate = false;
		const timer = setTimeout(() => {
			isLate = true;
			kill();
		}, timeoutMs);
		child.on("error", reject);
		child.on("exit", (code) => {
			clearTimeout(timer);
			process.off("exit", kill);
			kill();
			isLate ||= code !== 0 && TIMED_OUT.test(output);
			resolve({ result: isLate ? "late" : code === 0 ? "passed" : "failed", output });
		});
	});
}
