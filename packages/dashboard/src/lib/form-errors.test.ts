import { expect, it } from "vitest";
import { faultsByField } from "./form-errors.ts";

it("files the first fault of each field under the field, as a sentence", () => {
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
		url: "Must be https.",
		events: "Is unknown.",
		limit: "Is too large.",
		"a/b~c": "Odd name.",
		"": "The whole of it.",
	});
});
