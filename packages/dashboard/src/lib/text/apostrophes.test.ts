import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const SOURCES = fileURLToPath(new URL("../..", import.meta.url));
const CURLY = "\u2019";

// Two kinds of apostrophes were mixed, sometimes in one sentence.
it("has straight apostrophes in all texts", () => {
	const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/.test(name));
	expect(files.length).toBeGreaterThan(200);
	expect(files.filter((name) => readFileSync(join(SOURCES, name), "utf8").includes(CURLY))).toEqual([]);
});
