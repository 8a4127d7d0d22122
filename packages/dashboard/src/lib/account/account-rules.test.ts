import { expect, it } from "vitest";
import { emailFault, nameFault, passwordFault } from "./account-rules.ts";

it("accepts passwords of 10 to 200 characters", () => {
	expect(passwordFault("x".repeat(9))).not.toBeNull();
	expect(passwordFault("x".repeat(10))).toBeNull();
	expect(passwordFault("x".repeat(200))).toBeNull();
	expect(passwordFault("x".repeat(201))).not.toBeNull();
});

it("accepts names that aren't blank", () => {
	expect(nameFault("  ")).not.toBeNull();
	expect(nameFault("Anna")).toBeNull();
	expect(nameFault("x".repeat(101))).not.toBeNull();
});

it("accepts anything that looks like an e-mail address", () => {
	expect(emailFault(" anna@example.com ")).toBeNull();
	expect(emailFault("anna")).not.toBeNull();
	expect(emailFault("anna @example.com")).not.toBeNull();
});
