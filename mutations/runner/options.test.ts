import { expect, test } from "vitest";
import { readOptions } from "./options.ts";

// Each needs a copy of the checkout, so a typo filled the disk.
test.for(["0", "1.5", "1000", "two"])("refuses to try %s mutations at a time", (text) => {
	expect(() => readOptions(["--at-once", text], {})).toThrow("--at-once must be a whole number from 1 to 16.");
});
