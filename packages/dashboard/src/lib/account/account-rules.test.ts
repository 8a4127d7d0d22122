import { expect, it } from "vitest";
import { emailFault, nameFault, passwordFault, textFault } from "./account-rules.ts";

it("accepts passwords of 10 to 200 characters", () => {
	expect(passwordFault("x".repeat(9))).not.toBeNull();
	expect(passwordFault("x".repeat(10))).toBeNull();
	expect(passwordFault("x".repeat(200))).toBeNull();
	expect(passwordFault("x".repeat(201))).not.toBeNull();
});

it("accepts names that aren't blank", () => {
	expect(nameFault("  ")).not.toBeNull();
	expect(nameFault("Anna")).toBeNull();
	expect(nameFault("x".repeat(101))).toBe("Must have at most 100 characters.");
});

// These left for the service, which refused them.
it("refuses names that the service refuses, and counts characters as it does", () => {
	for (const name of ["\u200b", "Anna\u202e", "A\u0000b"])
		expect(nameFault(name)).toMatch(/^Must have a visible character, .* the direction of text\.$/);
	expect(nameFault("Anna\ud800")).toMatch(/^Must be valid Unicode/);
	expect(nameFault(`${"🎺".repeat(100)} `)).toBeNull();
	expect(textFault(" ", { min: 0, max: 200 })).toBeNull();
});

it("accepts anything that looks like an e-mail address", () => {
	expect(emailFault(" anna@example.com ")).toBeNull();
	expect(emailFault("anna")).not.toBeNull();
	expect(emailFault("anna @example.com")).not.toBeNull();
});
