import { describe, expect, it } from "vitest";
import { ERROR_LABELS } from "../attempt-words.ts";
import { adviceFor } from "./advice.ts";

const failed = { status: "failed", url: "https://hooks.example.com:8443/in?x=1", response_ms: 84 } as const;
const answered = (status_code: number) => adviceFor({ ...failed, status_code, error_code: null });
const unanswered = (error_code: string) => adviceFor({ ...failed, status_code: null, error_code });

const wellFormed = ({ why, tries }: ReturnType<typeof adviceFor>) => {
	expect(why).toMatch(/^\S.*\.$/);
	for (const one of tries) expect(one).toMatch(/^[A-Z].*\.$/);
	expect(new Set(tries).size).toBe(tries.length);
};

it.each(Object.keys(ERROR_LABELS))("has its own words for %s", (code) => {
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

const HELD = [
	{ status_code: 500, error_code: null },
	{ status_code: 500, error_code: null, response_body: "Traceback (most recent call last)" },
	{ status_code: 408, error_code: null },
	{ status_code: 410, error_code: null },
	{ status_code: 503, error_code: null },
	{ status_code: 503, error_code: null, response_body: "Down for maintenance" },
	{ status_code: null, error_code: "dns_failed" },
	{ status_code: null, error_code: "tls_expired" },
	{ status_code: null, error_code: "sender_failed" },
];

it.each(HELD)("says that only resuming a paused webhook sends the event again, after %j", (response) => {
	const { tries } = adviceFor({ ...failed, ...response }, "paused");
	expect(tries.join(" ")).toMatch(/resume the webhook/i);
	expect(tries.join(" ")).not.toMatch(/automatically|replay|retries|retry now|pause or/i);
});

// It promised retries, or a button for them, next to "the next attempt is made once the service can sign it".
it.each(HELD)(
	"says that a webhook without a readable secret needs one to send the event again, after %j",
	(response) => {
		const { tries } = adviceFor({ ...failed, ...response }, "unsigned");
		expect(tries.join(" ")).toMatch(/restore or rotate the signing secret/);
		expect(tries.join(" ")).not.toMatch(/automatically|replay|retries|retry now|resume/i);
	},
);

describe("says what helps", () => {
	it.each([
		[401, /secret/],
		[402, /hosting service/],
		[403, /firewall/],
		[404, /path/],
		[405, /POST/],
		[409, /return 2xx/],
		[410, /delete/],
		[429, /limit/],
		[500, /own log for the error\./],
		[503, /replay what failed/],
		[301, /final URL/],
		[304, /cache/],
		[308, /final URL/],
		[418, /response/],
	])("against %i", (status, words) => {
		expect(answered(status).tries.join(" ")).toMatch(words);
	});

	it.each([
		["tls_expired", /Renew/],
		["dns_not_found", /spelling/],
		["timeout", /store the event, respond with 2xx/],
		["address_not_public", /tunnel/],
		["address_not_allowed", /POSTHORN_EGRESS_DENY/],
		["port_not_allowed", /port 443/],
	])("against %s", (code, words) => {
		expect(unanswered(code).tries.join(" ")).toMatch(words);
	});
});

describe("uses what else is known about the failure", () => {
	const failure = (error_code: string, details: Partial<Parameters<typeof adviceFor>[0]>) =>
		adviceFor({ ...failed, status_code: null, error_code, started_at: "2026-11-24T10:00:00.000Z", ...details });
	const certificate = {
		...{ subject: "CN=a", issuer: "C=US, O=Example Trust, CN=R1", names: ["a.example", "b.example"] },
		...{ valid_from: "2026-08-01T00:00:00.000Z", valid_to: "2026-11-20T12:00:00.000Z" },
	};

	it("names the certificate's dates, hosts and issuer", () => {
		expect(failure("tls_expired", { certificate }).why).toMatch(/ expired on 2026-11-20\.$/);
		const early = { ...certificate, valid_from: "2026-12-01T00:00:00.000Z", valid_to: "2027-12-01T00:00:00.000Z" };
		expect(failure("tls_expired", { certificate: early }).why).toMatch(/isn't valid before 2026-12-01\.$/);
		const unknown = { ...certificate, valid_from: null, valid_to: null };
		expect(failure("tls_expired", { certificate: unknown }).why).toBe(unanswered("tls_expired").why);
		expect(failure("tls_wrong_host", { certificate }).why).toMatch(/but for a\.example, b\.example\.$/);
		expect(failure("tls_untrusted", { certificate }).why).toMatch(/issued by R1,/);
		expect(failure("tls_untrusted", { certificate: { ...certificate, issuer: "CN=a" } }).why).toMatch(/self-signed/);
	});

	it("names the methods that a receiver accepts, unless POST is among them", () => {
		const refused = (allow?: string) =>
			adviceFor({
				...{ ...failed, status_code: 405, error_code: null },
				response_headers: allow === undefined ? {} : { allow },
			}).why;
		expect(refused("GET, HEAD")).toBe("hooks.example.com:8443 doesn't accept POST at this path, only GET, HEAD.");
		for (const allow of ["GET, POST", "<b>", ""]) expect(refused(allow)).toBe(refused());
	});

	it("tells a name without an address from one that doesn't exist", () => {
		expect(failure("dns_not_found", { dns: "nxdomain" })).toEqual(unanswered("dns_not_found"));
		expect(failure("dns_not_found", { dns: "no_address" }).why).toMatch(/exists in DNS, but has no address/);
		expect(failure("dns_not_found", { dns: "no_address" }).tries[0]).toMatch(/A or AAAA record/);
		expect(failure("dns_failed", { dns: "servfail" }).why).toMatch(/SERVFAIL/);
		expect(failure("dns_failed", { dns: "unusable" }).why).toBe(unanswered("dns_failed").why);
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
		const limited = { ...attempt, status_code: 429 };
		expect(triesOf(limited, "open")).toMatch(/delays between retries grow/);
		const asking = { ...limited, response_headers: { "retry-after": "60" } };
		expect(adviceFor(asking, "open").why).toMatch(/retries .* grow/);
		for (const prospect of ["over", "paused", "unsigned"] as const) {
			expect(triesOf(limited, prospect)).not.toMatch(/retr/i);
			expect(adviceFor(asking, prospect).why).not.toMatch(/retries/);
		}
	});

	it("suggests nothing once a later attempt or a replay has delivered it", () => {
		expect(adviceFor(attempt, "delivered")).toEqual({ why: adviceFor(attempt).why, tries: [] });
	});
});

it("names the receiver by its host", () => {
	expect(unanswered("tls_expired").why).toBe(
		"The certificate of hooks.example.com:8443 has expired or isn't valid yet.",
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
