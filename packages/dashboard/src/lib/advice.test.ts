import { describe, expect, it } from "vitest";
import { adviceFor } from "./advice.ts";
import { KNOWN_CODES } from "./attempt-words.ts";

const failed = { status: "failed", url: "https://hooks.example.com:8443/in?x=1", response_ms: 84 } as const;
const answered = (status_code: number) => adviceFor({ ...failed, status_code, error_code: null });
const unanswered = (error_code: string) => adviceFor({ ...failed, status_code: null, error_code });

const wellFormed = ({ why, tries }: ReturnType<typeof adviceFor>) => {
	expect(why).toMatch(/^\S.*\.$/);
	for (const one of tries) expect(one).toMatch(/^[A-Z].*\.$/);
	expect(new Set(tries).size).toBe(tries.length);
};

it.each(KNOWN_CODES)("has its own words for %s", (code) => {
	const advice = unanswered(code);
	wellFormed(advice);
	expect(advice.tries.length).toBeGreaterThan(0);
	expect(advice.why).not.toBe(unanswered("a_code_to_come").why);
});

it("suggests something for every status other than success", () => {
	for (let status = 300; status < 600; status++) {
		const advice = answered(status);
		wellFormed(advice);
		expect(advice.tries.length).toBeGreaterThan(0);
	}
});

describe("says what helps", () => {
	it.each([
		[401, /secret/],
		[403, /firewall/],
		[404, /path/],
		[405, /POST/],
		[410, /delete/],
		[429, /limit/],
		[500, /log at this time/],
		[503, /Replay it/],
		[301, /final URL/],
		[308, /final URL/],
		[418, /response/],
	])("against %i", (status, words) => {
		expect(answered(status).tries.join(" ")).toMatch(words);
	});

	it.each([
		["tls_expired", /Renew/],
		["dns_not_found", /spelling/],
		["timeout", /immediately/],
		["address_not_public", /tunnel/],
		["address_not_allowed", /POSTHORN_EGRESS_DENY/],
		["port_not_allowed", /port 443/],
	])("against %s", (code, words) => {
		expect(unanswered(code).tries.join(" ")).toMatch(words);
	});
});

describe("reads the response's body", () => {
	const refused = (status_code: number, response_body: string) =>
		adviceFor({ ...failed, status_code, error_code: null, response_body }).why;

	it.each([400, 401, 403, 422])("where the receiver answers %i and explains it", (status) => {
		expect(refused(status, '{"error":"Invalid signature"}')).toMatch(/signature is invalid/);
		expect(refused(status, "HMAC mismatch")).toMatch(/signature is invalid/);
		expect(refused(status, "timestamp outside the tolerance zone")).toMatch(/timestamp is too old/);
		expect(refused(status, "missing field order_id")).toBe(answered(status).why);
	});

	it("but not where the status says something else", () => {
		expect(refused(500, "invalid signature")).toBe(answered(500).why);
	});
});

describe("depends on what has become of the delivery", () => {
	const attempt = { ...failed, status_code: 500, error_code: null };
	const triesOf = (...rest: Parameters<typeof adviceFor>) => adviceFor(...rest).tries.join(" ");

	it("mentions retries only if there will be any", () => {
		expect(triesOf({ ...attempt, status: "retrying" })).toMatch(/retries arrive/);
		expect(triesOf(attempt, "open")).toMatch(/retries arrive/);
		for (const status_code of [408, 500, 503]) {
			expect(triesOf({ ...attempt, status_code })).toMatch(/replay/i);
			expect(triesOf({ ...attempt, status: "retrying", status_code }, "over")).not.toMatch(/retr/i);
		}
		for (const error_code of ["dns_failed", "sender_failed"])
			expect(triesOf({ ...attempt, status_code: null, error_code })).not.toMatch(/retr/i);
	});

	it("suggests nothing once a later attempt or a replay has delivered it", () => {
		expect(adviceFor(attempt, "delivered")).toEqual({ why: adviceFor(attempt).why, tries: [] });
	});
});

it("names the receiver by its host", () => {
	expect(unanswered("tls_expired").why).toBe(
		"The certificate of hooks.example.com:8443 has expired or isn’t valid yet.",
	);
});

it("says how long a timeout lasted", () => {
	const { why } = adviceFor({ ...failed, status_code: null, error_code: "timeout", response_ms: 15_003 });
	expect(why).toContain("within 15.0 s");
});

it("gives no advice about a successful attempt", () => {
	const advice = adviceFor({ ...failed, status: "delivered", status_code: 204, error_code: null });
	expect(advice).toEqual({ why: "hooks.example.com:8443 returned 204 No Content after 84 ms.", tries: [] });
});
