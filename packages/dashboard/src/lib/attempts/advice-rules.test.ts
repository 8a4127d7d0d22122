import { describe, expect, it } from "vitest";
import { type AdviceFacts, adviceFor } from "./advice.ts";
import { ADVICE_RULES } from "./advice-rules.ts";

const FAILED = { status: "failed", url: "https://hooks.example.com/in", response_ms: 84, error_code: null } as const;

interface Example {
	readonly code: number;
	readonly body?: string;
	readonly headers?: Record<string, string>;
}

/** What receivers say, by the name of the rule that fits. */
const EXAMPLES: Readonly<Record<string, readonly Example[]>> = {
	csrf: [
		{ code: 403, body: "<h1>Forbidden</h1><p>CSRF verification failed. Request aborted.</p>" },
		{ code: 419, body: "<title>Page Expired</title>" },
		{ code: 422, body: "ActionController::InvalidAuthenticityToken" },
		{ code: 403, body: '{"message":"invalid csrf token"}' },
	],
	timestamp: [{ code: 400, body: "timestamp outside the tolerance zone" }],
	"disallowed host": [
		{ code: 400, body: "DisallowedHost at /in: Invalid HTTP_HOST header: 'hooks.example.com'" },
		{ code: 403, body: "<h1>Blocked hosts: hooks.example.com</h1>" },
	],
	"client certificate": [{ code: 400, body: "<center>No required SSL certificate was sent</center>" }],
	signature: [
		{ code: 400, body: '{"error":"Invalid signature"}' },
		{ code: 401, body: "HMAC mismatch" },
		{ code: 403, body: "verification failed" },
		{ code: 422, body: "not signed" },
	],
	tunnel: [{ code: 404, body: "Tunnel abc.ngrok-free.app not found. ERR_NGROK_3200" }],
	"cloudflare origin": [
		{ code: 521, headers: { server: "cloudflare" } },
		{ code: 526, body: "<title>Invalid SSL certificate | Cloudflare</title>" },
	],
	"bot protection": [
		{ code: 403, headers: { "cf-mitigated": "challenge" } },
		{ code: 503, body: "<title>Just a moment...</title>" },
		{ code: 403, body: "Sorry, you have been blocked. Cloudflare Ray ID: 8f" },
		{ code: 406, body: "Request unsuccessful. Incapsula incident" },
	],
	"redirect to login": [
		{ code: 302, headers: { location: "/login?next=/in" } },
		{ code: 303, headers: { location: "https://hooks.example.com/users/sign_in" } },
		{ code: 302, headers: { location: "https://sso.example.com/oauth/authorize" } },
		{ code: 302, headers: { location: "/wp-login.php" } },
	],
	"redirect to http": [{ code: 301, headers: { location: "http://hooks.example.com/in/" } }],
	redirect: [
		{ code: 301, headers: { location: "https://www.hooks.example.com/in" } },
		{ code: 308, headers: { location: "/in/" } },
		{ code: 301, headers: { location: "/blog/" } },
	],
	"basic authentication": [{ code: 401, headers: { "www-authenticate": 'Basic realm="Staging"' } }],
	"login page": [
		{ code: 401, body: '<form action="/x"><input name="p" type="password"></form>' },
		{ code: 404, body: "<html><title>Log in to Example</title>" },
	],
	"no POST": [
		{ code: 404, body: "<pre>Cannot POST /in</pre>" },
		{ code: 405, body: "Method Not Allowed" },
		{ code: 500, body: "The POST method is not supported for route in." },
		{ code: 404, body: '{"code":"rest_no_route"}' },
	],
	"no application": [
		{ code: 404, body: "<title>No such app</title>" },
		{ code: 503, body: "<title>Application error</title>" },
	],
	maintenance: [{ code: 503, body: "Down for maintenance" }],
	"unreadable body": [
		{ code: 400, body: "SyntaxError: Unexpected token o in JSON at position 1" },
		{ code: 415, body: '{"error":"Unsupported Media Type"}' },
	],
	exception: [
		{ code: 500, body: "Traceback (most recent call last):" },
		{ code: 500, body: "TypeError: x\n    at handle (/app/index.js:12:7)" },
	],
	"retry after": [{ code: 429, headers: { "retry-after": "120" } }],
};

const factsOf = ({ code, body = "", headers = {} }: Example): AdviceFacts => ({
	...FAILED,
	status_code: code,
	response_body: body,
	response_headers: headers,
});

/** Words that refer to what only a delivery's page shows. */
const OUT_OF_CONTEXT =
	/\bbelow\b|\bat this time\b|^(?:Read|Raise) (?:it|its)\b|^Remove the requirement|path from it\b|^If (?:it's|that's)\b/;

it("has an example for each rule", () => {
	expect(Object.keys(EXAMPLES)).toEqual(ADVICE_RULES.map(({ name }) => name));
});

describe.each(ADVICE_RULES.map((rule) => [rule.name, rule] as const))("%s", (name, rule) => {
	it.each(EXAMPLES[name]!)("fits $code $body $headers", (example) => {
		const facts = factsOf(example);
		const told = {
			...{ url: facts.url, host: "hooks.example.com", isRetried: false, isHeld: false, took: "84 ms", startedAt: 0 },
			...{ body: facts.response_body ?? "", headers: facts.response_headers ?? {}, dns: null, certificate: null },
		};
		const advice = adviceFor(facts);
		expect(advice).toEqual(rule.advice(told));
		expect(advice.why).toMatch(/^\S.*\.$/);
		expect(advice.tries.length).toBeGreaterThan(0);
		for (const one of advice.tries) expect(one).toMatch(/^[A-Z].*\.$/);
		expect(advice.tries[0]).not.toMatch(OUT_OF_CONTEXT);
	});
});

it("begins with advice that makes sense where neither the reason nor the response is shown", () => {
	// The webhook's page said "enter this address", but not which one.
	const [redirect] = EXAMPLES.redirect!.map((example) => adviceFor(factsOf(example)).tries);
	expect(redirect).toEqual([
		"If your receiver is at https://www.hooks.example.com/in now, enter this address in the webhook's settings.",
	]);
	for (let code = 300; code < 600; code++)
		expect(adviceFor(factsOf({ code })).tries[0], `${code}`).not.toMatch(OUT_OF_CONTEXT);
});

it("says nothing special about responses that say nothing special", () => {
	for (const [code, body] of [
		[400, "missing field order_id"],
		[401, "Unauthorized"],
		[403, "Forbidden"],
		[404, "<center><h1>404 Not Found</h1></center><hr><center>nginx</center>"],
		[500, "Internal Server Error"],
		[502, "<h1>502 Bad Gateway</h1>"],
		[503, "Service Unavailable"],
		[500, "invalid signature"],
		[400, "please sign in"],
	] as const)
		expect(adviceFor(factsOf({ code, body })).why, body).toBe(adviceFor(factsOf({ code })).why);
});

it("treats hostile responses as text, within the time of a blink", () => {
	const long = "<input ".repeat(140) + "json".repeat(60) + "method".repeat(40);
	for (const code of [302, 400, 401, 403, 404, 422, 429, 500, 503, 521]) {
		const headers = { location: "javascript:alert(1)", "www-authenticate": " ".repeat(500) };
		expect(adviceFor(factsOf({ code, body: long, headers })).why).not.toContain("javascript");
	}
});
