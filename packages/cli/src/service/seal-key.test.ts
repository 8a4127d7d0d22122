import { expect, test } from "vitest";
import { namesOf } from "./seal-key.ts";

// The question only said how many webhooks would be paused.
test("the question names the first webhooks with their projects, without characters that drive the terminal", () => {
	const webhook = (description: string) => ({ description, url: "https://receiver.example/", projectName: "Shop" });
	expect(namesOf([])).toBe("");
	expect(namesOf([webhook("")])).toBe(" (https://receiver.example/ of Shop)");
	const many = ["A\u001b[2J", "B", "C", "D", "E"].map(webhook);
	expect(namesOf(many)).toBe(" (A\ufffd[2J of Shop; B of Shop; C of Shop; and 2 more)");
});
