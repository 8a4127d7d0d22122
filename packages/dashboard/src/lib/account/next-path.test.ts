import fc from "fast-check";
import { expect, it } from "vitest";
import { safeNext } from "./next-path.ts";

it("leads to paths of the dashboard", () => {
	expect(safeNext("/p/proj_1/logs?status=failed")).toBe("/p/proj_1/logs?status=failed");
	expect(safeNext(undefined)).toBe("/");
});

it.each([
	"https://evil.example",
	"//evil.example",
	"/\\evil.example",
	"/.//evil.example",
	"/a/..//evil.example",
	"javascript:alert(1)",
	"evil",
	"",
])("does not go to %j", (next) => {
	expect(safeNext(next)).toBe("/");
});

it("never leads to another origin", () => {
	fc.assert(
		fc.property(fc.string(), (next) => {
			expect(new URL(safeNext(`/${next}`), "https://own.example").origin).toBe("https://own.example");
		}),
	);
});
