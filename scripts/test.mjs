// `npm test`: sets up, checks, runs every test, names those that failed, and ends with one plain line that counts them.
// With arguments, it only runs vitest and passes them on.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { check } from "./check.mjs";
import { ROOT, runNode, setupToWrite } from "./setup.mjs";
import { fromPlaywright, fromVitest } from "./test-reports.mjs";

setupToWrite();
const args = process.argv.slice(2);
const { failures, ...checks } = await check();
const count = { ...checks, skipped: 0 };
const folder = mkdtempSync(join(tmpdir(), "posthorn-test-"));
// Browser tests use the processor while others wait for clocks and disks; their output comes last.
let printed = "";
const inBrowser =
	args.length === 0 &&
	runTests(
		"playwright",
		(report) => [
			[bin("@playwright/test/cli.js"), "test", "--reporter=list,json"],
			{
				env: { PLAYWRIGHT_JSON_OUTPUT_FILE: report, FORCE_COLOR: process.stdout.isTTY ? "1" : "0" },
				stdio: ["ignore", "pipe", "pipe"],
				onOutput: (text) => {
					printed += text;
				},
			},
		],
		fromPlaywright,
	);
await runTests(
	"vitest",
	(report) => [
		[bin("vitest/vitest.mjs"), "run", "--reporter=default", "--reporter=json", `--outputFile.json=${report}`, ...args],
	],
	fromVitest,
);
await inBrowser;
console.log(printed);
rmSync(folder, { recursive: true });
const { passed, failed, skipped } = count;
if (failures.length > 0) console.log(`Failed:\n${failures.map((failure) => `  ✗ ${failure}`).join("\n")}\n`);
if (skipped > 0) console.log(`${skipped} skipped, because this machine or engine lacks what they need`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;

/**
 * Runs a test runner and sums up its report.
 * @param {(report: string) => [string[], object?]} command its arguments and options, given the file for its report
 */
async function runTests(runner, command, read) {
	const report = join(folder, `${runner}.json`);
	const code = await runNode(...command(report));
	let result = { passed: 0, failed: 0, skipped: 0, failures: [] };
	try {
		result = read(JSON.parse(readFileSync(report, "utf8")));
	} catch (error) {
		result.failed = 1;
		result.failures.push(`${runner} left no report: ${error.message}`);
	}
	// A suite that couldn't be loaded, or a runner that failed for another reason, has failed tests that weren't counted.
	if (code !== 0 && result.failed === 0) {
		result.failed = 1;
		if (result.failures.length === 0) result.failures.push(`${runner} ended with ${code}: its output says why.`);
	}
	for (const key of Object.keys(count)) count[key] += result[key];
	failures.push(...result.failures);
}

function bin(path) {
	return join(ROOT, "node_modules", path);
}
