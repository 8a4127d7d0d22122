// `npm test`: sets up, checks, runs every test, and ends with one plain line that counts them. Arguments go to vitest.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { check } from "./check.mjs";
import { ROOT, runNode, setup } from "./setup.mjs";

setup();
const checks = await check();
const folder = mkdtempSync(join(tmpdir(), "posthorn-test-"));
const report = join(folder, "report.json");
const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
const code = await runNode([
	vitest,
	"run",
	"--reporter=default",
	"--reporter=json",
	`--outputFile.json=${report}`,
	...process.argv.slice(2),
]);
let passed = checks.passed;
let failed = checks.failed;
let skipped = 0;
try {
	const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, numFailedTestSuites } = JSON.parse(
		readFileSync(report, "utf8"),
	);
	passed += numPassedTests;
	failed += numFailedTests;
	skipped += numPendingTests + numTodoTests;
	// A suite that could not even be loaded, or a runner that failed for another reason, has failed tests that no one counted.
	if (code !== 0 && numFailedTests === 0) failed += Math.max(1, numFailedTestSuites);
} catch (error) {
	console.error(`The test runner left no report: ${error.message}`);
	failed += 1;
}
rmSync(folder, { recursive: true });
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
process.exitCode = failed > 0 || code !== 0 ? 1 : 0;
