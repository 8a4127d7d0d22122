// `npm run check`: everything that can be said of the code without running it. Every step runs, even if one fails.

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ROOT, runNode, setup } from "./setup.mjs";

const bin = (path) => join(ROOT, "node_modules", path);
const STEPS = [
	["format, lint, import direction and cycles", [bin("@biomejs/biome/bin/biome"), "ci", "--error-on-warnings", "."]],
	["types", [bin("typescript/bin/tsc")]],
	["types of the dashboard", [bin("typescript/bin/tsc"), "-p", join(ROOT, "packages/dashboard")]],
	["types of the API are those of its routes", [join(ROOT, "packages/api-types/generate.ts"), "--check"]],
	["the schema of PostgreSQL is written down", [join(ROOT, "scripts/write-schema.ts"), "--check"]],
	["documents", [join(ROOT, "scripts/check-documents.mjs")]],
];

/** @returns {Promise<{passed: number, failed: number}>} how many of the checks hold */
export async function check() {
	const result = { passed: 0, failed: 0 };
	for (const [name, args] of STEPS) {
		const begun = Date.now();
		const code = await runNode(args, { env: { FORCE_COLOR: process.stdout.isTTY ? "1" : "0" } });
		result[code === 0 ? "passed" : "failed"] += 1;
		console.log(`${code === 0 ? "✓" : "✗"} ${name} (${((Date.now() - begun) / 1000).toFixed(1)} s)`);
	}
	return result;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	setup();
	process.exitCode = (await check()).failed > 0 ? 1 : 0;
}
