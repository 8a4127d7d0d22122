// `npm run test:only -- PATH …`: runs only the tests in these files, without checks. The dashboard's specs run in the
// browser, all others in vitest, which also accepts its own options.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ROOT, runNode, setup } from "./setup.mjs";

const args = process.argv.slice(2);
if (args.length === 0) {
	console.error("Which tests? For example: npm run test:only -- packages/server/src/engine/lanes");
	process.exit(2);
}
const [specs, others] = [args.filter(isSpec), args.filter((arg) => !isSpec(arg) && existsSync(arg))];
if (specs.length > 0 && others.length > 0) {
	console.error(`Browser tests (${specs[0]}) run without others (${others[0]}): name only one kind.`);
	process.exit(2);
}
const inBrowser = specs.length > 0;
setup();
const runner = inBrowser ? ["@playwright/test/cli.js", "test"] : ["vitest/vitest.mjs", "run"];
process.exitCode = await runNode([join(ROOT, "node_modules", runner[0]), runner[1], ...args]);

function isSpec(arg) {
	return arg.includes("e2e/browser");
}
