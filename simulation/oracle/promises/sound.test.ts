import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ERRORS } from "./sound.ts";

const SERVER = join(import.meta.dirname, "../../../packages/server/src");
const SOURCES = globSync(["main.ts", "engine/**/*.ts"], { cwd: SERVER })
	.filter((path) => !path.endsWith(".test.ts"))
	.map((path) => readFileSync(join(SERVER, path), "utf8"));

// The service had reworded one of them, so the oracle no longer noticed it.
test.for(ERRORS)("the service logs %s", (text) => {
	expect(SOURCES.some((source) => source.includes(`"${text}`))).toBe(true);
});
