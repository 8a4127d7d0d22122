import { expect, it } from "vitest";
import { sameUrlWords } from "./same-url.ts";

const webhook = (id: string, url: string, description = "") => ({ id, url, description });

const WEBHOOKS = [
	webhook("wh_1", "https://example.com/hooks", "Accounting"),
	webhook("wh_2", "https://example.org/"),
	webhook("wh_3", "https://example.net/hooks"),
	webhook("wh_4", "https://example.net/hooks"),
];

it.each([
	[
		"https://example.com/hooks",
		undefined,
		"The webhook Accounting has this URL, too. Events that both receive are sent to it twice.",
	],
	// The same, written differently.
	[
		"HTTPS://EXAMPLE.ORG:443",
		undefined,
		"The webhook example.org has this URL, too. Events that both receive are sent to it twice.",
	],
	[
		"https://example.net/hooks",
		undefined,
		"2 other webhooks have this URL, too. An event is sent to it once for each that receives it.",
	],
	[
		"https://example.net/hooks",
		"wh_4",
		"The webhook example.net has this URL, too. Events that both receive are sent to it twice.",
	],
	["https://example.com/hooks", "wh_1", null],
	["https://example.com/other", undefined, null],
	["https://", undefined, null],
	["", undefined, null],
])("says who else has the URL %s, apart from %s", (url, ownId, words) => {
	expect(sameUrlWords(WEBHOOKS, url, ownId)).toBe(words);
});
