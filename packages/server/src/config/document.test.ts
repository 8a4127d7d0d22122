import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { configurationPage } from "../../../../scripts/configuration-page.ts";

test("the settings page matches the table (npm run docs writes it)", () => {
	const page = new URL("../../../../docs/operations/configuration.md", import.meta.url);
	expect(readFileSync(page, "utf8")).toBe(configurationPage());
});
