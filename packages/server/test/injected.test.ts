import { readFileSync } from "node:fs";
import { glob } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const SOURCES = fileURLToPath(new URL("../src/", import.meta.url));
/** The only file that uses the machine's clock. */
const CLOCK = "base/clock.ts";
const MACHINE =
	/\bsystemClock\b|\bDate\.now\b|\bnew Date\(\)|\bperformance\b|\bMath\.random\b|node:timers|(?<![."\w])(?:setTimeout|setInterval|setImmediate)\b(?!\(\w+: )/;

const namesMachine = (line: string): boolean => MACHINE.test(line.replace(/(?:^\s*\*|\/\/|\/\*\*).*/, ""));

test("code under a virtual clock uses no other clock", async () => {
	const found: string[] = [];
	let files = 0;
	for await (const file of glob("{base,net,engine,store,registry,accounts}/**/*.ts", { cwd: SOURCES })) {
		if (file === CLOCK || /\.(?:test|fixture)\.ts$/.test(file)) continue;
		files += 1;
		const lines = readFileSync(`${SOURCES}${file}`, "utf8").split("\n");
		for (const [i, line] of lines.entries()) if (namesMachine(line)) found.push(`${file}:${i + 1} ${line.trim()}`);
	}
	expect(files).toBeGreaterThan(50);
	expect(found).toEqual([]);
});

test.each([
	"const now = Date.now();",
	"setTimeout(resolve, 50);",
	"later = setImmediate,",
	"clock: Clock = systemClock",
	"const begun = performance.now();",
])("%s would be found", (line) => {
	expect(namesMachine(line)).toBe(true);
});

test.each([
	"clock.setTimeout(run, 50);",
	'readonly clock: Pick<Clock, "elapsed" | "setTimeout">;',
	"setTimeout(ms: number): unknown;",
	"// Date.now() here",
])("%s is let through", (line) => {
	expect(namesMachine(line)).toBe(false);
});
