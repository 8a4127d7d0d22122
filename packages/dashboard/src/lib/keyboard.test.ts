import { expect, it } from "vitest";
import { isTyping, stepIndex } from "./keyboard.ts";

it("leaves keys to text fields only", () => {
	expect(isTyping({ tagName: "INPUT", type: "text" })).toBe(true);
	expect(isTyping({ tagName: "TEXTAREA" })).toBe(true);
	expect(isTyping({ tagName: "DIV", isContentEditable: true })).toBe(true);
	expect(isTyping({ tagName: "INPUT", type: "checkbox" })).toBe(false);
	expect(isTyping({ tagName: "TR" })).toBe(false);
	expect(isTyping(null)).toBe(false);
});

it("steps through a list and stays within it", () => {
	expect(stepIndex(null, 1, 3)).toBe(0);
	expect(stepIndex(null, -1, 3)).toBe(0);
	expect(stepIndex(0, 1, 3)).toBe(1);
	expect(stepIndex(2, 1, 3)).toBe(2);
	expect(stepIndex(0, -1, 3)).toBe(0);
	expect(stepIndex(5, 1, 3)).toBe(2);
	expect(stepIndex(0, 1, 0)).toBeNull();
});
