import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const ROOT = dirname(import.meta.dirname);

// A misspelled --archive was ignored, and others ended with a stack trace.
test.for([
	["scripts/pack.mjs", "--archiv", "Unknown option '--archiv'"],
	["scripts/house/main.ts", "--against", "Option '--against <value>' argument missing"],
	["scripts/test-container.mjs", "--bas=debian", "Unknown option '--bas'"],
	["mutations/runner/main.ts", "--lists", "Unknown option '--lists'"],
] as const)("%s %s is refused with the usage", ([script, option, message]) => {
	const { status, stdout, stderr } = spawnSync(process.execPath, [join(ROOT, script), option], { encoding: "utf8" });
	expect([status, stdout]).toEqual([2, ""]);
	expect(stderr).toContain(message);
	expect(stderr).toMatch(/^npm run [\w:]+ -- \[/m);
	expect(stderr).not.toContain("    at ");
});
