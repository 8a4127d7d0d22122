// `npm run test:only -- PATH …`: the tests in these files, and nothing else: no checks, no other tests. Specs of the
// dashboard run in the browser, all else in vitest, which also takes its own options.
import { join } from "node:path";
import { ROOT, runNode, setup } from "./setup.mjs";

const args = process.argv.slice(2);
if (args.length === 0) {
	console.error("Which tests? For example: npm run test:only -- packages/server/src/engine/lanes");
	process.exit(2);
}
setup();
const inBrowser = args.some((arg) => arg.includes("e2e/browser"));
const runner = inBrowser ? ["@playwright/test/cli.js", "test"] : ["vitest/vitest.mjs", "run"];
process.exitCode = await runNode([join(ROOT, "node_modules", runner[0]), runner[1], ...args]);
