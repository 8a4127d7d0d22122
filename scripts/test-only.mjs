// `npm run test:only -- PATH …`: runs only the tests in these files, without checks. The dashboard's specs run in the
// browser, all others in vitest, which also accepts its own options.
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
