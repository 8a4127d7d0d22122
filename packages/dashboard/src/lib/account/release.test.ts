import { expect, test } from "vitest";
import { namedLike, releaseOf } from "./release.ts";

const webhook = (status: "active" | "paused", events: number, count: number) => ({
	status,
	backlog: { events },
	waiting: { count },
});

test("a release says what it sends and what it leaves out; paused webhooks get nothing", () => {
	const [one, other, paused] = [webhook("active", 2, 1), webhook("active", 80, 0), webhook("paused", 9, 9)];
	const all = [one, other, paused];
	const none = releaseOf(all, () => false);
	expect([none.total, none.skipped, none.words]).toEqual([
		83,
		[],
		"82 first attempts and 1 retry or replay will be sent to 2 webhooks, in order.",
	]);
	const skip = releaseOf(all, (each) => each === other || each === paused);
	expect([skip.total, skip.skipped, skip.words]).toEqual([
		3,
		[other],
		"2 first attempts and 1 retry or replay will be sent to 1 webhook, in order. 80 won't be sent to 1 webhook.",
	]);
	expect(releaseOf([paused], () => false).words).toBe("No pending delivery will be sent.");
});

test("webhooks are found by their own name, their URL or their project's name", () => {
	const webhook = { description: "Accounting", url: "https://books.example.com/hooks", project: "Lantern Games" };
	for (const text of ["", " ", "account", " LANTERN ", "books.example"]) expect(namedLike(text, webhook)).toBe(true);
	expect(namedLike("chat", webhook)).toBe(false);
});
