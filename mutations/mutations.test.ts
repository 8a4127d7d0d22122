import { dirname } from "node:path";
import { expect, test } from "vitest";
import { AREAS } from "./index.ts";
import { faultsOf } from "./runner/apply.ts";

const ROOT = dirname(import.meta.dirname);

test("each mutation still applies to its file, parses, and names tests that exist", () => {
	expect(faultsOf(ROOT, Object.values(AREAS).flat())).toEqual([]);
});
