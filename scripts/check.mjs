/**
 * `npm run check`: everything that can be checked without running the code. All checks run concurrently, each to its
 * end. A passed check prints one line; then follows the output of the failed ones, and a last line that names them.
 */
import { join } from "node:path";
import { isInterrupted, isProgram, ROOT, runNode, setupToWrite } from "./setup.mjs";

const bin = (path) => join(ROOT, "node_modules", path);
const COLORS = `--colors=${process.stdout.isTTY ? "force" : "off"}`;
const STUBBORN = { ignoresSignals: true };
/** Slowest first. TypeScript keeps its results in `.cache`. */
const CHECKS = [
	["types", [bin("typescript/bin/tsc")], STUBBORN],
	[
		"format, lint, import direction and cycles",
		[bin("@biomejs/biome/bin/biome"), "ci", "--error-on-warnings", COLORS, "."],
		STUBBORN,
	],
	["types of the dashboard", [bin("typescript/bin/tsc"), "-p", join(ROOT, "packages/dashboard")], STUBBORN],
	["schema.sql matches the migrations", [join(ROOT, "scripts/write-schema.ts"), "--check"]],
	["the API's types match its routes", [join(ROOT, "packages/api-types/generate.ts"), "--check"]],
	["the event types match the catalogue", [join(ROOT, "packages/webhooks/generate.ts"), "--check"]],
	["packages as published", [join(ROOT, "scripts/check-packages.mjs")]],
	["documents", [join(ROOT, "scripts/check-documents.mjs")]],
];

/**
 * Ends this process if a signal interrupts it.
 * @returns {Promise<{passed: number, failed: number, failures: string[]}>} `failures` names those that failed
 */
export async function check() {
	const failed = (await Promise.all(CHECKS.map(run))).filter(({ isRight }) => !isRight);
	if (isInterrupted) {
		console.error("Interrupted.");
		process.exit(1);
	}
	for (const { name, output } of failed) console.log(`\n✗ ${name}:\n${output.trimEnd()}`);
	const failures = failed.map(({ name }) => name);
	if (failures.length > 0) console.log(`\nFailed: ${failures.join("; ")}.`);
	return { passed: CHECKS.length - failed.length, failed: failed.length, failures };
}

async function run([name, args, options]) {
	const begun = Date.now();
	let output = "";
	const code = await runNode(args, {
		env: { FORCE_COLOR: process.stdout.isTTY ? "1" : "0" },
		stdio: ["ignore", "pipe", "pipe"],
		...options,
		onOutput: (text) => {
			output += text;
		},
	});
	const isRight = code === 0;
	if (!isInterrupted) console.log(`${isRight ? "✓" : "✗"} ${name} (${((Date.now() - begun) / 1000).toFixed(1)} s)`);
	return { name, isRight, output };
}

if (isProgram(import.meta.url)) {
	setupToWrite();
	process.exitCode = (await check()).failed > 0 ? 1 : 0;
}
