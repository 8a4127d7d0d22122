import { expect, it } from "vitest";
import { findProjects } from "./search.ts";

const ROWS = [
	{ id: "proj_a", name: "Shop" },
	{ id: "proj_b", name: "חנות הספרים" },
];

it.each([
	["sho", ["proj_a"]],
	["proj_b", ["proj_b"]],
	// Pasted as the page shows it.
	["\u2068חנות הספרים\u2069", ["proj_b"]],
	["x", []],
])("finds projects by %j", (text, ids) => {
	expect(findProjects(ROWS, text).map(({ id }) => id)).toEqual(ids);
});
