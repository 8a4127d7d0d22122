/**
 * `npm run test:languages`: runs the receivers of the documents and the dashboard, in every language, and the receiver
 * library on other runtimes. It ends with 1 if a test fails, or something is missing, which it names.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { ROOT, runNode, setup } from "./setup.mjs";

const TESTS = ["packages/dashboard/src/lib/snippets/snippets.test.ts", "packages/webhooks/test"];
/** The command that shows whether it is there, and how Debian and Ubuntu install it. */
const NEEDED = [
	["Python", ["python3", "--version"], "apt-get install python3"],
	["PHP", ["php", "--version"], "apt-get install php-cli"],
	["Go", ["go", "version"], "apt-get install golang"],
	["Ruby", ["ruby", "-ropenssl", "-e", "OpenSSL.method(:secure_compare)"], "apt-get install ruby"],
	["Java", ["javac", "--version"], "apt-get install default-jdk-headless"],
	["Redis", ["redis-server", "--version"], "apt-get install redis-server"],
	["Bun", ["bun", "--version"], "npm install --global bun"],
	["Deno", ["deno", "--version"], "npm install --global deno"],
];

setup();
const missing = NEEDED.filter(([, [file, ...args]]) => spawnSync(file, args).status !== 0);
const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
const code = await runNode([vitest, "run", ...TESTS], { env: { POSTHORN_TEST_LANGUAGES: "all" } });
for (const [name, , install] of missing) console.error(`Not tested, because it isn't installed: ${name} (${install})`);
process.exitCode = code !== 0 || missing.length > 0 ? 1 : 0;
