import { expect, it } from "vitest";
import { faultsByField } from "./form-errors.ts";

it("files the first fault of each field under the field", () => {
	expect(
		faultsByField([
			{ pointer: "/url", detail: "must be https" },
			{ pointer: "/url", detail: "is too long" },
			{ pointer: "/events/3", detail: "is unknown" },
			{ pointer: "?limit", detail: "is too large" },
			{ pointer: "/a~1b~0c", detail: "odd name" },
			{ pointer: "", detail: "the whole of it" },
		]),
	).toEqual({
		url: "must be https",
		events: "is unknown",
		limit: "is too large",
		"a/b~c": "odd name",
		"": "the whole of it",
	});
});
