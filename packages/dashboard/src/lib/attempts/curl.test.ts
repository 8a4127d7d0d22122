import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { shortTime } from "../text/time.ts";
import { curlCommand, quote, type SentRequest, signatureWords } from "./curl.ts";

const folder = mkdtempSync(join(tmpdir(), "posthorn-curl-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Replaces curl: writes each argument, and the input if it reads any, each followed by NUL. */
const STUB = `curl() {
	for word in "$@"; do printf '%s\\0' "$word"; done
	case "$*" in *"--data-binary @-") cat; printf '\\0';; esac
}
`;

/** How a real shell parses a command: the words that curl would get, then its input. */
function wordsOf(command: string): string[] {
	const script = join(folder, "script.sh");
	writeFileSync(script, `${STUB}${command}\n`);
	const { status, stdout, stderr } = spawnSync("sh", [script], { maxBuffer: 1 << 26 });
	if (status !== 0) throw new Error(`sh: ${stderr}`);
	return stdout.toString("utf8").split("\0").slice(0, -1);
}

const REQUEST: SentRequest = {
	method: "POST",
	url: "https://hooks.example.com/in?a=1&b='2'",
	headers: {
		"Content-Type": "application/json",
		"User-Agent": "Service-Webhooks/1.0",
		"X-Service-Event": "purchase.completed",
		"X-Service-Signature": "ab".repeat(32),
	},
	body: '{"note":"It\'s $HOME, `id`, \\"quoted\\" \\\\ and\nmore 🎺"}',
};

describe("a shell reads the command as", () => {
	it("the method, the URL, each header and the exact body", () => {
		expect(wordsOf(curlCommand(REQUEST))).toEqual([
			"-X",
			"POST",
			REQUEST.url,
			...Object.entries(REQUEST.headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]),
			"--data-raw",
			REQUEST.body,
		]);
	});

	it("any text, unchanged", () => {
		const text = fc.string({ unit: "binary", maxLength: 60 }).map((any) => any.replaceAll("\0", "").toWellFormed());
		fc.assert(
			fc.property(text, (body) => {
				expect(wordsOf(curlCommand({ ...REQUEST, body })).at(-1)).toBe(body);
			}),
			{ numRuns: 60 },
		);
	});

	it("a pipe for bodies that are too long for an argument", () => {
		const body = JSON.stringify({ long: "ü'".repeat(100_000) });
		const words = wordsOf(curlCommand({ ...REQUEST, body }));
		expect(words.at(-2)).toBe("@-");
		expect(words.at(-1)).toBe(body);
	});

	it("a header without a value", () => {
		expect(wordsOf(curlCommand({ ...REQUEST, headers: { "X-Empty": "" } }))).toContain("X-Empty;");
	});

	it("a URL with literal brackets", () => {
		expect(wordsOf(curlCommand({ ...REQUEST, url: "https://[2001:db8::1]/in" }))).toContain("--globoff");
		expect(wordsOf(curlCommand(REQUEST))).not.toContain("--globoff");
	});

	it("no header that curl adds itself", () => {
		const headers = { Host: "elsewhere.example.com", "content-length": "3", Connection: "close" };
		expect(wordsOf(curlCommand({ ...REQUEST, headers }))).not.toContain("-H");
	});
});

it("quotes everything that a shell could interpret", () => {
	const hostile = "'; touch hacked; echo '$(id) `id` \\ ! \" * ~ \n #";
	const script = join(folder, "quote.sh");
	writeFileSync(script, `printf '%s' ${quote(hostile)} > "${join(folder, "quoted")}"`);
	expect(spawnSync("sh", [script]).status).toBe(0);
	expect(readFileSync(join(folder, "quoted"), "utf8")).toBe(hostile);
});

it.each([
	[{ "X-Service-Timestamp": "1795269731" }, 1_795_270_031_000],
	[{ "x-acme-shop-timestamp": "0" }, 300_000],
])("says until when %j is accepted", (headers, until) => {
	const at = (now: number) => shortTime(until, now, { seconds: true });
	expect(signatureWords({ headers }, until - 1)).toBe(`Receivers accept its signature until ${at(until - 1)}.`);
	expect(signatureWords({ headers }, until)).toContain(`valid for 5 minutes, until ${at(until)}.`);
	// It gave only the time of day, which could seem to be in the future.
	const days = 3 * 86_400_000;
	expect(signatureWords({ headers }, until + days)).toMatch(/until \d+ [A-Z][a-z]{2}( \d{4})?, \d\d:\d\d:\d\d\.$/);
});

it.each([[{ "X-Service-Timestamp": "soon" }], [{ "X-Service-Event": "purchase.completed" }], [{}]])(
	"says nothing of the signature of %j",
	(headers) => {
		expect(signatureWords({ headers: headers as Record<string, string> }, 0)).toBe("");
	},
);
