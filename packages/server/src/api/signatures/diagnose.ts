/**
 * Finds out which of secret, body, timestamp and clock a receiver has wrong, from what it computed for a logged request.
 * Needs no secret, and reveals only whether a given signature is right.
 */
import { bodyDifference, changedBodies } from "@posthorn/protocol";
import type { SignatureCheck, SignatureChecks } from "../../engine/engine.ts";
import type { Attempt } from "../../storage/port.ts";
import {
	bodyFinding,
	clockFinding,
	type Finding,
	right,
	signedBodyFinding,
	timestampFinding,
	unknown,
	wrong,
} from "./findings.ts";
import {
	type GivenSignature,
	malformedFinding,
	ownScheme,
	readSignature,
	readTimestamp,
	type Scheme,
	standardScheme,
} from "./scheme.ts";

/** What the receiver had and computed. */
export interface Seen {
	readonly signature?: string;
	readonly body?: Uint8Array;
	readonly timestamp?: string;
	/** Unix time in seconds. */
	readonly clock?: number;
}

interface SignedRequest {
	readonly eventId: string;
	readonly sent: NonNullable<Attempt["sent"]>;
	readonly body: Uint8Array;
}

/** @param checks null if the webhook was deleted */
export function diagnose(request: SignedRequest, checks: SignatureChecks | null, entered: Seen): Finding[] {
	const seen = { ...entered, ...(entered.timestamp !== undefined && { timestamp: readTimestamp(entered.timestamp) }) };
	const given = seen.signature === undefined ? null : readSignature(seen.signature);
	const explained = explanationOf(request, checks, given, seen);
	const { scheme, secret, isSent } = explained;
	const findings: (Finding | null)[] = [secret];
	if (seen.body !== undefined) findings.push(bodyFinding(request.body, seen.body, isSent));
	if (seen.timestamp !== undefined) findings.push(timestampFinding(scheme.timestamp, seen.timestamp));
	if (seen.clock !== undefined) findings.push(clockFinding(scheme.timestamp, seen.clock));
	if (given !== null) findings.push(...signatureFindings(explained, request.body, given, seen));
	// The signature may show what the body or the timestamp has shown before.
	const byCode = new Map<string, Finding>();
	for (const one of findings) if (one !== null && !byCode.has(one.code)) byCode.set(one.code, one);
	return [...byCode.values()];
}

/** The receiver's signature, taken for one of a scheme. */
interface Explanation {
	readonly scheme: Scheme;
	/** Why the current secret can't be compared with what was sent; null if it signed the request. */
	readonly secret: Finding | null;
	/** Whether it is the one that was sent. */
	readonly isSent: boolean;
	/** The mistake that gives it with the current secret; null if none does. */
	readonly cause: Finding | null;
}

/** By the scheme that explains the receiver's signature; if none or both do, by the one whose notation it has. */
function explanationOf(
	{ eventId, sent, body }: SignedRequest,
	checks: SignatureChecks | null,
	given: GivenSignature | null,
	seen: Seen,
): Explanation {
	const explain = (scheme: Scheme): Explanation => {
		const secret = secretFinding(body, checks, scheme);
		const hex = given?.hex ?? null;
		const isSent = hex === scheme.signature;
		const isOther = hex !== null && !isSent && secret === null && scheme.check !== null;
		return { scheme, secret, isSent, cause: isOther ? causeOf(scheme, body, scheme.check, hex, seen) : null };
	};
	const isExplained = ({ isSent, cause }: Explanation) => isSent || cause !== null;
	const own = ownScheme(sent, checks, given);
	const { timestamp, standardSignature } = sent;
	if (standardSignature === undefined || given === null || given.hex === null) return explain(own);
	const standard = standardScheme(eventId, timestamp, standardSignature, checks, given);
	const isBase64 = given.notation === "base64" || given.notation === "base64url";
	const likely = explain(isBase64 ? standard : own);
	if (isExplained(likely)) return likely;
	const other = explain(isBase64 ? own : standard);
	return isExplained(other) ? other : likely;
}

/** Why the current secret can't be compared with what was sent; null if it signed the request. */
function secretFinding(body: Uint8Array, checks: SignatureChecks | null, scheme: Scheme): Finding | null {
	const { check, head, timestamp, signature } = scheme;
	if (checks === null)
		return unknown("webhook_deleted", "The webhook was deleted, so its secret can no longer be checked.", "secret");
	if (check === null)
		return unknown(
			"standard_off",
			"The webhook no longer sends the headers of Standard Webhooks, so the secret can't be checked for them.",
			"secret",
		);
	if (check(head(timestamp), body, signature)) return null;
	return wrong(
		"secret_rotated",
		"The secret was rotated after this request was signed, so the current one can't match it. Replay the delivery and look at the new request.",
	);
}

function signatureFindings(
	explained: Explanation,
	body: Uint8Array,
	{ hex }: GivenSignature,
	seen: Seen,
): (Finding | null)[] {
	const { scheme, secret, isSent } = explained;
	if (hex === null) return [malformedFinding(seen.signature ?? "")];
	if (!isSent) return [scheme.form, ...otherSignatureFindings(explained, body, seen)];
	const isLate = seen.clock !== undefined && clockFinding(scheme.timestamp, seen.clock).state === "wrong";
	const detail = `The receiver computed the right signature.${isLate ? "" : " Check how it compares the two."}`;
	return [
		scheme.form ?? right("signature_right", detail),
		secret === null ? right("secret_right", "The secret is right.") : null,
	];
}

/** Why the receiver computed another signature than the one that was sent. */
function otherSignatureFindings({ scheme, secret, cause }: Explanation, body: Uint8Array, seen: Seen): Finding[] {
	// The secret that signed the request is unknown by now.
	if (secret !== null) return [unknown("signature_other", "The signature isn't the one that was sent.")];
	if (cause?.part === "secret") return [cause];
	if (cause !== null) {
		const detail = "The secret is right: with it, the mistake that was found gives exactly this signature.";
		return [right("secret_right", detail), cause];
	}
	if (seen.body === undefined)
		return [
			unknown(
				"signature_other",
				"The signature isn't the one that was sent. Also give the body as the receiver saw it, to find out whether the secret or the body is wrong.",
			),
		];
	const isTimestampRight = seen.timestamp === undefined || seen.timestamp === String(scheme.timestamp);
	if (isTimestampRight && bodyDifference(body, seen.body) === null)
		return [
			wrong(
				"secret_wrong",
				`The body is right and the signature isn't, so the secret is wrong: ${scheme.wrongSecrets}.`,
			),
		];
	return [
		unknown(
			"signature_other",
			"The signature follows neither from the body that was sent nor from this one, so the secret may be wrong too. Fix what is wrong here, then check again.",
		),
	];
}

/** The mistake that gives this signature with the current secret; null if none does. */
function causeOf(scheme: Scheme, sent: Uint8Array, check: SignatureCheck, hex: string, seen: Seen): Finding | null {
	const { body, timestamp } = seen;
	const head = scheme.head(scheme.timestamp);
	const wrongHead = scheme.wrongHeads.find(({ head }) => check(head, sent, hex));
	if (wrongHead !== undefined) return wrongHead.finding;
	if (scheme.otherCheck?.(head, sent, hex)) return scheme.otherSecret;
	if (body !== undefined && check(head, body, hex)) return bodyFinding(sent, body);
	for (const changed of changedBodies(sent))
		if (check(head, changed.body, hex)) return signedBodyFinding(changed.change);
	if (check(head, new Uint8Array(0), hex)) return signedBodyFinding("empty");
	const inMs = String(scheme.timestamp * 1_000);
	if (check(scheme.head(inMs), sent, hex)) return timestampFinding(scheme.timestamp, inMs);
	// Header values are ASCII, and so is what the check takes.
	if (timestamp === undefined || !/^[\x20-\x7e]{1,30}$/.test(timestamp)) return null;
	for (const one of [sent, ...(body === undefined ? [] : [body])])
		if (check(scheme.head(timestamp), one, hex)) return timestampFinding(scheme.timestamp, timestamp);
	return null;
}
