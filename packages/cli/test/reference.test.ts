import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { referencePage } from "../src/reference.ts";

test("docs/guides/cli.md is what the commands' help says", () => {
	const page = readFileSync(join(import.meta.dirname, "../../../docs/guides/cli.md"), "utf8");
	// If not: npm run docs.
	expect(page).toBe(referencePage());
});
