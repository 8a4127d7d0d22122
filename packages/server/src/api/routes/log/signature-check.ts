/**
 * Finds out which of secret, body, timestamp and clock a receiver has wrong, from what it computed for a logged request.
 * Needs no secret, and reveals only whether a given signature is right.
 */
import { type BodyDifference, bodyDifference, changedBodies, TIMESTAMP_TOLERANCE_S } from "@posthorn/protocol";
import type { Static } from "typebox";
import { REQUESTS } from "../../../base/budgets.ts";
import type { SignatureCheck, SignatureChecks } from "../../../engine/engine.ts";
import type { Attempt } from "../../../storage/port.ts";
import { found, Problem } from "../../http/problem.ts";
import { type ApiParts, type Route, routeIn } from "../../route.ts";
import { component, optional, request, Type } from "../../schema.ts";

const route = routeIn("Delivery log");

const NOT_BASE64 = "must be base64 with its padding";

const SignatureSeen = request("SignatureSeen", {
	minProperties: 1,
	examples: [{ timestamp: "1795514462", clock: 1795514470 }],
})({
	...optional({
		signature: Type.String({
			minLength: 1,
			maxLength: 200,
			description: "The signature that the receiver computed: in hexadecimal, or in base64 for Standard Webhooks.",
		}),
		body: Type.String({
			pattern: "^[A-Za-z0-9+/]*={0,2}$",
			errorMessage: NOT_BASE64,
			description: "The bytes of the body that the receiver saw, in base64 with its padding.",
		}),
		timestamp: Type.String({ minLength: 1, maxLength: 30, description: "The timestamp that the receiver used." }),
		clock: Type.Integer({
			minimum: 0,
			maximum: 999_999_999_999,
			description: "The receiver's clock when it checked the request, Unix time in seconds.",
		}),
	}),
});

const SignatureDiagnosis = component("SignatureDiagnosis")({
	findings: Type.Array(
		Type.Object({
			part: Type.Enum(["secret", "signature", "body", "timestamp", "clock"]),
			state: Type.Enum(["right", "wrong", "unknown"]),
			code: Type.String({ description: "Stable." }),
			detail: Type.String({ description: "What is wrong, and what to do." }),
		}),
	),
});

export function signatureCheckRoutes({ storage, engine, config }: ApiParts): Route[] {
	return [
		route("POST", "/v1/projects/{project_id}/attempts/{attempt_id}/signature-check", "checkSignature", {
			summary: "Find out why a receiver refuses a signature",
			description:
				"Compares what a receiver saw and computed for a request with what was sent, and says whether its secret, body, timestamp or clock is wrong. It takes no secret and returns no signature.",
			access: "developer",
			rate: "urlChecks",
			body: SignatureSeen,
			// A pattern with groups of four characters would overflow the stack with a few MiB.
			faults: ({ body = "" }) => (body.length % 4 === 0 ? [] : [{ pointer: "/body", detail: NOT_BASE64 }]),
			// In base64.
			bodyLimit: Math.ceil((config.maxEventBytes + REQUESTS.envelopeBytes) * 1.5),
			success: { status: 200, description: "The findings.", schema: SignatureDiagnosis },
			problems: { conflict: "Nothing was sent in this attempt." },
			async handler({ params: { projectId, attemptId }, body }) {
				const { body: given, ...rest } = body;
				const attempt = found("attempt", await storage.getAttempt({ projectId, attemptId }));
				if (attempt.sent === null)
					throw new Problem("conflict", "Nothing was sent in this attempt, so nothing was signed.");
				const checks = await engine.signatureChecks(projectId, attempt.webhookId);
				const scheme = schemeOf(attempt.eventId, attempt.sent, checks, body.signature);
				const seen = { ...rest, ...(given !== undefined && { body: Buffer.from(given, "base64") }) };
				return { findings: findingsOf(scheme, attempt.requestBody, checks, seen) };
			},
		}),
	];
}

type Finding = Static<typeof SignatureDiagnosis>["findings"][number];
type Seen = Omit<Static<typeof SignatureSeen>, "body"> & { readonly body?: Uint8Array };

const BODY_DETAILS: Record<BodyDifference, string> = {
	empty: "The body is empty. Something read the request's stream before the check, such as a body parser.",
	byte_order_mark:
		"The body has a byte order mark that wasn't sent, or lacks one. Don't decode and encode it: pass the raw bytes.",
	truncated: "The body is cut off. Wait for all of it, and raise the receiver's limit on body sizes if there is one.",
	whitespace: "The body was trimmed, got a line break, or its line breaks were converted. Pass the raw bytes.",
	encoding: "The body was decoded with an encoding other than UTF-8 and encoded again. Pass the raw bytes.",
	reserialized:
		"The body was parsed and serialized again, which changes its bytes. Verify the raw bytes before any parser reads them.",
	other_event: "This is the body of another event. Compare the request with the same event id.",
	changed: "The body's content isn't what was sent. Find out what changes it, such as a proxy.",
};

/** How a request was signed, and the usual mistakes. */
interface Scheme {
	readonly timestamp: number;
	/** The signature that was sent, in hexadecimal. */
	readonly signature: string;
	/** What is signed before the body. */
	readonly head: (timestamp: number | string) => string;
	/** With the webhook's current secret; null if that can't sign like this. */
	readonly check: SignatureCheck | null;
	/** With the secret taken for the other scheme's. */
	readonly otherCheck: SignatureCheck | null;
	/** What is wrong with the form of a signature that the receiver computed; null if nothing is. */
	readonly formFault: (given: GivenSignature) => string | null;
	/** What some sign before the body, and what it lacks. */
	readonly shortHeads: readonly string[];
	readonly shortHead: Finding;
	readonly otherSecret: Finding;
	/** How a secret can be wrong. */
	readonly wrongSecrets: string;
}

const SIGNED_TEXT = "The signed text is the timestamp, a full stop, and the body.";
const STANDARD_TEXT = "The signed text is the id, the timestamp and the body, with full stops between them.";

/** The scheme of Standard Webhooks, if the receiver seems to have checked its signature. */
function schemeOf(
	eventId: string,
	{ timestamp, signature, standardSignature }: NonNullable<Attempt["sent"]>,
	checks: SignatureChecks | null,
	given: string | undefined,
): Scheme {
	const { own = null, standard = null } = checks ?? {};
	const read = given === undefined ? null : readSignature(given);
	if (standardSignature === undefined || read?.notation !== "base64" || read.hex === signature)
		return {
			...{ timestamp, signature, check: own, otherCheck: standard, formFault },
			head: (at) => `${at}.`,
			shortHeads: [""],
			shortHead: wrong("timestamp_missing", `The timestamp wasn't signed. ${SIGNED_TEXT}`),
			otherSecret: wrong("secret_decoded", "The secret was decoded from base64. Use it as it is written."),
			wrongSecrets:
				"another webhook's, an old one, in quotes, with whitespace around it, or without whsec_ at its start",
		};
	return {
		...{ timestamp, check: standard, otherCheck: own, formFault: () => null },
		signature: Buffer.from(standardSignature, "base64").toString("hex"),
		head: (at) => `${eventId}.${at}.`,
		shortHeads: ["", `${timestamp}.`, `${eventId}.`],
		shortHead: wrong("signature_text", `Not all of it was signed. ${STANDARD_TEXT}`),
		otherSecret: wrong(
			"secret_not_decoded",
			"The secret was used as it is written. For Standard Webhooks, it is what follows whsec_, decoded from base64.",
		),
		wrongSecrets: "another webhook's or an old one",
	};
}

/** @param checks null if the webhook was deleted */
function findingsOf(scheme: Scheme, sentBody: Uint8Array, checks: SignatureChecks | null, seen: Seen): Finding[] {
	const { signature, body, timestamp, clock } = seen;
	const { check } = scheme;
	const findings: Finding[] = [];
	const isRotated = check !== null && !check(scheme.head(scheme.timestamp), sentBody, scheme.signature);
	if (checks === null)
		findings.push(
			unknown("webhook_deleted", "The webhook was deleted, so its secret can no longer be checked.", "secret"),
		);
	else if (check === null)
		findings.push(
			unknown(
				"standard_off",
				"The webhook no longer sends the headers of Standard Webhooks, so the secret can't be checked for them.",
				"secret",
			),
		);
	else if (isRotated)
		findings.push(
			wrong(
				"secret_rotated",
				"The secret was rotated after this request was signed, so the current one can't match it. Replay the delivery and look at the new request.",
			),
		);
	const isSigned = signature !== undefined && readSignature(signature).hex === scheme.signature;
	if (body !== undefined) findings.push(bodyFinding(sentBody, body, isSigned));
	if (timestamp !== undefined) findings.push(timestampFinding(scheme, timestamp));
	if (clock !== undefined) findings.push(clockFinding(scheme, clock));
	if (signature !== undefined)
		findings.push(...signatureFindings(scheme, sentBody, isRotated ? null : check, seen, signature));
	// The signature may show what the body or the timestamp has shown before.
	const seenCodes = new Set<string>();
	return findings.filter(({ code }) => !seenCodes.has(code) && seenCodes.add(code));
}

/** @param part by default, the first word of the code */
const finding =
	(state: Finding["state"]) =>
	(code: string, detail: string, part = code.split("_", 1)[0] as Finding["part"]): Finding => {
		return { part, state, code, detail };
	};
const right = finding("right");
const wrong = finding("wrong");
const unknown = finding("unknown");

/** @param isSigned whether the receiver has computed the right signature, so that it had the right body */
function bodyFinding(sent: Uint8Array, given: Uint8Array, isSigned = false): Finding {
	const difference = bodyDifference(sent, given);
	if (difference === null) return right("body_same", `The body has exactly the ${sent.length} bytes that were sent.`);
	if (isSigned)
		return unknown(
			"body_not_signed",
			"The receiver computed the right signature, so it had the right body. This is another one, such as a copy from a log.",
		);
	let byte = 0;
	while (byte < sent.length && sent[byte] === given[byte]) byte++;
	return wrong(
		`body_${difference}`,
		`${BODY_DETAILS[difference]} It has ${given.length} bytes, ${sent.length} were sent, and byte ${byte} is the first that differs.`,
	);
}

function timestampFinding({ timestamp }: Scheme, given: string): Finding {
	if (given === String(timestamp)) return right("timestamp_same", "The timestamp is the one that was sent.");
	const number = Number(given);
	if (Math.floor(number / 1_000) === timestamp)
		return wrong(
			"timestamp_milliseconds",
			"The timestamp was converted to milliseconds. Sign the header's value as it is.",
		);
	if (given.trim() === String(timestamp))
		return wrong("timestamp_whitespace", "The timestamp has whitespace around it. Sign the header's value without it.");
	return wrong("timestamp_other", `This isn't the request's timestamp, which is ${timestamp}.`);
}

function clockFinding({ timestamp }: Scheme, clock: number): Finding {
	const ahead = Math.round(clock - timestamp);
	if (Math.abs(ahead) <= TIMESTAMP_TOLERANCE_S)
		return right(
			"clock_right",
			`The clock was ${Math.abs(ahead)} s from the request's timestamp; ${TIMESTAMP_TOLERANCE_S} s are allowed.`,
		);
	return wrong(
		ahead > 0 ? "clock_ahead" : "clock_behind",
		`The clock was ${Math.abs(ahead)} s ${ahead > 0 ? "after" : "before"} the request's timestamp; ${TIMESTAMP_TOLERANCE_S} s are allowed. Synchronize the receiver's clock, or check whether the request waited in a queue before it was verified.`,
	);
}

function signatureFindings(
	scheme: Scheme,
	sentBody: Uint8Array,
	check: SignatureCheck | null,
	{ body, timestamp, clock }: Seen,
	given: string,
): Finding[] {
	const read = readSignature(given);
	const { hex } = read;
	if (hex === null)
		return [
			wrong(
				"signature_malformed",
				"This isn't an HMAC-SHA256: it should be 64 hexadecimal digits, or 44 characters of base64 for Standard Webhooks.",
			),
		];
	const form = scheme.formFault(read);
	const noted = form === null ? [] : [wrong("signature_form", form)];
	if (hex === scheme.signature) {
		// A secret that has been rotated or deleted since can't be judged.
		const secret = check === null ? [] : [right("secret_right", "The secret is right.")];
		if (form !== null) return [...noted, ...secret];
		const isLate = clock !== undefined && clockFinding(scheme, clock).state === "wrong";
		const detail = `The receiver computed the right signature.${isLate ? "" : " Check how it compares the two."}`;
		return [right("signature_right", detail), ...secret];
	}
	if (check === null) return [...noted, unknown("signature_other", "The signature isn't the one that was sent.")];
	const cause = causeOf(scheme, sentBody, check, body, timestamp, hex);
	if (cause !== null)
		return [
			...noted,
			...(cause.part === "secret"
				? []
				: [
						right(
							"secret_right",
							"The secret is right: with it, the fault that was found gives exactly this signature.",
						),
					]),
			cause,
		];
	const isBodyRight = body !== undefined && bodyDifference(sentBody, body) === null;
	const isTimestampRight = timestamp === undefined || timestamp === String(scheme.timestamp);
	if (isBodyRight && isTimestampRight)
		return [
			...noted,
			wrong(
				"secret_wrong",
				`The body is right and the signature isn't, so the secret is wrong: ${scheme.wrongSecrets}.`,
			),
		];
	return [
		...noted,
		unknown(
			"signature_other",
			body === undefined
				? "The signature isn't the one that was sent. Also give the body as the receiver saw it, to find out whether the secret or the body is wrong."
				: "The signature follows neither from the body that was sent nor from this one, so the secret may be wrong too. Fix what is wrong here, then check again.",
		),
	];
}

/** The fault that gives this signature with the current secret; null if none does. */
function causeOf(
	scheme: Scheme,
	sentBody: Uint8Array,
	check: SignatureCheck,
	body: Uint8Array | undefined,
	timestamp: string | undefined,
	hex: string,
): Finding | null {
	const head = scheme.head(scheme.timestamp);
	if (scheme.shortHeads.some((short) => check(short, sentBody, hex))) return scheme.shortHead;
	if (scheme.otherCheck?.(head, sentBody, hex)) return scheme.otherSecret;
	if (body !== undefined && check(head, body, hex)) return bodyFinding(sentBody, body);
	for (const { change, body: other } of changedBodies(sentBody))
		if (check(head, other, hex)) return wrong(`body_${change}`, BODY_DETAILS[change]);
	if (check(head, new Uint8Array(0), hex)) return wrong("body_empty", BODY_DETAILS.empty);
	const inMs = String(scheme.timestamp * 1_000);
	if (check(scheme.head(inMs), sentBody, hex)) return timestampFinding(scheme, inMs);
	// Header values are ASCII, and so is what the check takes.
	if (timestamp === undefined || !/^[\x20-\x7e]{1,30}$/.test(timestamp)) return null;
	for (const one of [sentBody, ...(body === undefined ? [] : [body])])
		if (check(scheme.head(timestamp), one, hex)) return timestampFinding(scheme, timestamp);
	return null;
}

/** A signature that the receiver computed. */
interface GivenSignature {
	/** In lower-case hexadecimal digits; null if it can't be one. */
	readonly hex: string | null;
	readonly notation: "hex" | "HEX" | "base64" | null;
	/** Whether something precedes it, such as `sha256=`. */
	readonly prefixed: boolean;
}

function readSignature(given: string): GivenSignature {
	const text = given.trim().replace(/^(sha256=|v1[,=])/i, "");
	const prefixed = text !== given.trim();
	if (/^[0-9a-f]{64}$/.test(text)) return { hex: text, notation: "hex", prefixed };
	if (/^[0-9a-f]{64}$/i.test(text)) return { hex: text.toLowerCase(), notation: "HEX", prefixed };
	if (/^[A-Za-z0-9+/_-]{43}=?$/.test(text))
		return { hex: Buffer.from(text, "base64").toString("hex"), notation: "base64", prefixed };
	return { hex: null, notation: null, prefixed };
}

/** What is wrong with its form, compared with the header of our own. */
function formFault({ notation, prefixed }: GivenSignature): string | null {
	if (notation === "HEX")
		return "The signature is in capital letters. The header has lower-case ones; compare bytes, not text.";
	if (notation === "base64") return "The signature is in base64. The header has 64 hexadecimal digits.";
	return prefixed ? "The header has only the 64 digits, without anything before them." : null;
}
