import { describe, expect, it } from "vitest";
import { timeOfDay } from "../text/time.ts";
import {
	attemptSentence,
	ERROR_LABELS,
	explanation,
	headline,
	responseWords,
	statusText,
	wasSent,
} from "./attempt-words.ts";

const AT = "2026-11-21T14:02:11.000Z";
const answered = (status_code: number) => ({ status_code, error_code: null });
const unanswered = (error_code: string) => ({ status_code: null, error_code });

describe("a response", () => {
	it.each([
		[answered(500), "500", "returned 500"],
		// A redirect has both a code and a status; the status says more.
		[{ status_code: 301, error_code: "redirect" }, "301", "returned 301"],
		[unanswered("timeout"), "timeout", "timed out"],
		[unanswered("connection_refused"), "refused", "was refused a connection"],
		[unanswered("a_code_to_come"), "no response", "got no response"],
		[{ status_code: null, error_code: null }, "no response", "got no response"],
	])("%j is %s at a station and %s in a sentence", (answer, station, said) => {
		expect(responseWords(answer).station).toBe(station);
		expect(responseWords(answer).said).toBe(said);
	});

	it("is short where space is scarce: the status, or why there was none", () => {
		expect(responseWords(answered(503)).short).toBe("503");
		expect(responseWords(unanswered("tls_expired")).short).toBe("expired certificate");
		expect(responseWords(unanswered("a_code_to_come")).short).toBe("no response");
		expect(responseWords({ status_code: null, error_code: null }).short).toBe("no response");
	});

	it.each(Object.keys(ERROR_LABELS))("%s has its own words that fit the sentences around them", (code) => {
		const answer = unanswered(code);
		expect(responseWords(answer).station).not.toBe("no response");
		expect(responseWords(answer).station.length).toBeLessThanOrEqual(10);
		expect(responseWords(answer).said).toMatch(/^[a-z].*[^.]$/);
		expect(headline({ ...answer, status: "failed", attempt: 8, started_at: AT })).toMatch(/^[A-Z].*[^.]$/);
	});
});

// A name that DNS doesn't have was "no host" in tables, "Host name not found" and "hasn't been found in DNS" elsewhere.
it("says everywhere that the host isn't found", () => {
	const { said, headline, short } = responseWords(unanswered("dns_not_found"));
	for (const words of [said, headline, short]) expect(words).toMatch(/\bhost\b.* found|\bfind the host/i);
});

describe("headline", () => {
	it.each([
		[{ ...answered(200), status: "delivered", attempt: 1 } as const, "Delivered on the first attempt"],
		[{ ...answered(204), status: "delivered", attempt: 4 } as const, "Delivered on attempt 4"],
		[
			{ ...answered(500), status: "retrying", attempt: 4 } as const,
			"The receiver returned 500 (Internal Server Error)",
		],
		[{ ...answered(599), status: "failed", attempt: 8 } as const, "The receiver returned 599"],
		[{ ...unanswered("timeout"), status: "failed", attempt: 8 } as const, "The receiver didn't respond in time"],
	])("of %j is %s", (attempt, words) => {
		expect(headline({ ...attempt, started_at: AT })).toBe(words);
	});

	it("says whether a certificate has expired or isn't valid yet, if that is known", () => {
		const dates = { valid_from: "2026-01-01T00:00:00.000Z", valid_to: "2027-01-01T00:00:00.000Z" };
		const certificate = { subject: "CN=a", issuer: "CN=b", names: [], ...dates };
		const of = (more: Partial<typeof certificate> | null) =>
			headline({
				...{ ...unanswered("tls_expired"), status: "failed", attempt: 1, started_at: AT },
				certificate: more && { ...certificate, ...more },
			});
		expect(of({ valid_to: "2026-11-20T12:00:00.000Z" })).toBe("The receiver's certificate has expired");
		expect(of({ valid_from: "2026-12-01T00:00:00.000Z" })).toBe("The receiver's certificate isn't valid yet");
		for (const unknown of [{}, null])
			expect(of(unknown)).toBe("The receiver's certificate has expired or isn't valid yet");
	});
});

it("explains why there was no response", () => {
	const of = (error_code: string, error: string | null, valid_to: string | null) =>
		explanation({
			...{ ...unanswered(error_code), error, started_at: AT },
			certificate: { subject: "CN=a", issuer: "CN=b", names: [], valid_from: null, valid_to },
		});
	const past = "2026-11-20T12:00:00.000Z";
	expect(of("tls_expired", "The service's words.", past)).toBe("The receiver's certificate has expired.");
	expect(of("tls_expired", "The service's words.", null)).toBe("The service's words.");
	expect(of("tls_untrusted", "The service's words.", past)).toBe("The service's words.");
	expect(of("timeout", null, null)).toBe("There was no response.");
});

it("reads an attempt aloud", () => {
	const time = timeOfDay(Date.parse(AT), { seconds: true });
	expect(attemptSentence({ ...answered(500), attempt: 3, started_at: AT }, 8)).toBe(
		`attempt 3 of 8 at ${time} returned 500`,
	);
});

it("distinguishes attempts from deliveries that were closed without a request", () => {
	expect(Object.keys(ERROR_LABELS).filter((code) => !wasSent(unanswered(code)))).toEqual([
		"expired",
		"unsubscribed",
		"deleted",
		"skipped",
		"test_cancelled",
	]);
	expect(wasSent(answered(500))).toBe(true);
});

it("names the statuses that have names", () => {
	expect(statusText(503)).toBe("503 Service Unavailable");
	expect(statusText(799)).toBe("799");
});

// The request may have left before the error, so the receiver may have handled it.
it("doesn't say of an error on our side that the receiver wasn't reached", () => {
	for (const words of Object.values(responseWords(unanswered("sender_failed"))))
		expect(words).not.toMatch(/reached|sent/);
});
