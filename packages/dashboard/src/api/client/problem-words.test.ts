import { expect, it } from "vitest";
import { ApiError } from "./error.ts";
import { problemWords } from "./problem-words.ts";

const problem = (code: string, title: string, detail: string, errors: { pointer: string; detail: string }[] = []) =>
	new ApiError({ type: `/problems/${code}`, title, status: 400, detail, errors });

it.each([
	[
		problem("unauthorized", "A valid API key is needed", "The e-mail address or the password is wrong."),
		"You couldn't be signed in: The e-mail address or the password is wrong.",
	],
	[
		problem("unauthorized", "A valid API key is needed", "Send an API key in the header Authorization: Bearer KEY."),
		"You're signed out: Your session has ended. Sign in again.",
	],
	[
		problem("forbidden", "This key may not do that", "The header X-CSRF-Token is missing or wrong."),
		"This browser has a new session: Someone signed in from another tab. Check the account at the top right, then try again.",
	],
	[
		problem("not-found", "Not found", "There is no such webhook, or this key may not see it."),
		"Not found: There is no such webhook. It may have been deleted, or you no longer have access.",
	],
	[
		problem("invalid", "Some fields are not acceptable", 'One field is not acceptable; "errors" says where and why.', [
			{ pointer: "/current", detail: "That's not your current password." },
		]),
		"That can't be saved: That's not your current password.",
	],
	// It was: must be an array must have at least 1 item
	[
		problem("invalid", "Some fields are not acceptable", "Two fields are not acceptable.", [
			{ pointer: "/a", detail: "must be an array" },
			{ pointer: "/b", detail: "must have at least 1 item" },
		]),
		"That can't be saved: Must be an array. Must have at least 1 item.",
	],
	[
		problem("too-many-requests", "Too many requests", "There were too many wrong tries. Try again in 5 seconds."),
		"Too many requests: There were too many wrong tries. Try again in 5 seconds.",
	],
	[
		new TypeError("x is not a function"),
		"Something went wrong: The page couldn't read the response. Reload it, and report the problem if it keeps happening.",
	],
])("%o", (error, words) => {
	const { title, detail } = problemWords(error);
	expect(`${title}: ${detail}`).toBe(words);
});
