/** The two ways in which a request is signed, each with the mistakes that receivers usually make. */
import type { SignatureCheck, SignatureChecks } from "../../engine/engine.ts";
import type { Attempt } from "../../storage/port.ts";
import { type Finding, wrong } from "./findings.ts";

/** A signature that the receiver computed. */
export interface GivenSignature {
	/** In lower-case hexadecimal digits; null if it can't be one. */
	readonly hex: string | null;
	/** `bytes` are hexadecimal digits with something between each two, as .NET's `BitConverter` writes them. */
	readonly notation: "hex" | "HEX" | "bytes" | "base64" | "base64url" | null;
	/** Whether something precedes it, such as `sha256=`. */
	readonly prefixed: boolean;
}

/** What precedes a header's value when it is copied from a log, a terminal or code: other lines, its name, quotes. */
const SIGNATURE_NAME = /^.*?signature["'`]?\s*(:|=>?)\s*/is;
const TIMESTAMP_NAME = /^(t=|.*?timestamp["'`]?\s*(:|=>?)\s*)/is;
const AROUND = /^["'`]|["'`]?[,;]?$/g;
/** Where the next header begins. A field of one line loses the line breaks of what is pasted. */
const NEXT_HEADER = /[\r\n]|x-[\w-]+:/i;

/** A header's value, from what was copied around it. */
const headerValue = (given: string, name: RegExp): string =>
	given.trim().replace(name, "").split(NEXT_HEADER, 1)[0]!.replaceAll(AROUND, "").trim();

/** The timestamp that the receiver used. Without the header's name, it is left as it is: even whitespace may be a mistake. */
export const readTimestamp = (given: string): string =>
	TIMESTAMP_NAME.test(given) ? headerValue(given, TIMESTAMP_NAME) : given;

/** What other services write before the signature. */
const PREFIX = /^(t=\d+,\s*)?((hmac-)?sha256[=:]|v1[,=])/i;

export function readSignature(given: string): GivenSignature {
	const copied = headerValue(given, SIGNATURE_NAME);
	const text = copied.replace(PREFIX, "");
	const prefixed = text !== copied;
	if (/^[0-9a-f]{64}$/.test(text)) return { hex: text, notation: "hex", prefixed };
	if (/^[0-9a-f]{64}$/i.test(text)) return { hex: text.toLowerCase(), notation: "HEX", prefixed };
	if (/^[0-9a-f]{2}([-: ][0-9a-f]{2}){31}$/i.test(text))
		return { hex: text.replaceAll(/[-: ]/g, "").toLowerCase(), notation: "bytes", prefixed };
	if (/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) {
		const notation = /^[A-Za-z0-9+/]{43}=$/.test(text) ? "base64" : "base64url";
		return { hex: Buffer.from(text, "base64").toString("hex"), notation, prefixed };
	}
	return { hex: null, notation: null, prefixed };
}

/** What a signature that can't be one may be instead. */
export function malformedFinding(given: string): Finding {
	const text = given.trim();
	const length = /^(?:sha\d+=)?([0-9a-f]+)$/i.exec(text)?.[1]?.length;
	const instead = text.startsWith("whsec_")
		? "This is a signing secret: don't paste it anywhere."
		: /^\d{10}(\d{3})?$/.test(text)
			? "This is a timestamp."
			: length === 40
				? "It has the length of SHA-1."
				: length === 128
					? "It has the length of SHA-512."
					: "";
	const detail =
		"This isn't an HMAC-SHA256: it should be 64 hexadecimal digits, or 44 characters of base64 for Standard Webhooks.";
	return wrong("signature_malformed", instead === "" ? detail : `${detail} ${instead}`);
}

export interface Scheme {
	/** That was sent, Unix time in seconds. */
	readonly timestamp: number;
	/** That was sent, in hexadecimal. */
	readonly signature: string;
	/** What is signed before the body. */
	readonly head: (timestamp: number | string) => string;
	/** With the webhook's current secret; null if that can't sign like this. */
	readonly check: SignatureCheck | null;
	/** With the secret taken for the other scheme's. */
	readonly otherCheck: SignatureCheck | null;
	readonly otherSecret: Finding;
	/** What some receivers sign before the body instead, and what is wrong with it. */
	readonly wrongHeads: readonly { readonly head: string; readonly finding: Finding }[];
	/** What is wrong with the form of the given signature; null if nothing is. */
	readonly form: Finding | null;
	/** How a secret can be wrong. */
	readonly wrongSecrets: string;
}

type Sent = NonNullable<Attempt["sent"]>;

/**
 * Our own scheme.
 *
 * @param checks null if the webhook was deleted
 * @param given null if the receiver's signature isn't known
 */
export const ownScheme = (
	{ timestamp, signature }: Sent,
	checks: SignatureChecks | null,
	given: GivenSignature | null,
): Scheme => ({
	timestamp,
	signature,
	head: (at) => `${at}.`,
	check: checks?.own ?? null,
	otherCheck: checks?.standard ?? null,
	otherSecret: wrong("secret_decoded", "The secret was decoded from base64. Use it as it is written."),
	wrongHeads: [
		{
			head: "",
			finding: wrong(
				"timestamp_missing",
				"The timestamp wasn't signed. The signed text is the timestamp, a full stop, and the body.",
			),
		},
		{
			head: String(timestamp),
			finding: wrong(
				"signature_text",
				"The full stop wasn't signed. The signed text is the timestamp, a full stop, and the body.",
			),
		},
	],
	form: given === null ? null : formFinding(given, given.hex !== signature),
	wrongSecrets: "another webhook's, an old one, in quotes, with whitespace around it, or without whsec_ at its start",
});

/**
 * The scheme of Standard Webhooks.
 *
 * @param standardSignature that was sent, in base64
 */
export const standardScheme = (
	eventId: string,
	timestamp: number,
	standardSignature: string,
	checks: SignatureChecks | null,
	given: GivenSignature,
): Scheme => ({
	timestamp,
	signature: Buffer.from(standardSignature, "base64").toString("hex"),
	head: (at) => `${eventId}.${at}.`,
	check: checks?.standard ?? null,
	otherCheck: checks?.own ?? null,
	otherSecret: wrong(
		"secret_not_decoded",
		"The secret was used as it is written. For Standard Webhooks, it is what follows whsec_, decoded from base64.",
	),
	wrongHeads: ["", `${timestamp}.`, `${eventId}.`, `${eventId}${timestamp}`, `${eventId}.${timestamp}`].map((head) => ({
		head,
		finding: wrong(
			"signature_text",
			"Not all of it was signed. The signed text is the id, the timestamp and the body, with full stops between them.",
		),
	})),
	form: standardFormFinding(given),
	wrongSecrets: "another webhook's, an old one, or not exactly what follows whsec_, decoded from base64",
});

const formFound = (detail: string) => wrong("signature_form", detail);

/**
 * What is wrong with its form, compared with our own header.
 *
 * @param isOther whether it isn't the signature in that header
 */
function formFinding({ notation, prefixed }: GivenSignature, isOther: boolean): Finding | null {
	if (notation === "HEX")
		return formFound("The signature is in capital letters. The header has lower-case ones; compare bytes, not text.");
	if (notation === "bytes")
		return formFound("The signature has something between its bytes. The header has only the 64 digits.");
	if (notation === "base64" || notation === "base64url")
		return formFound(
			`The signature is in base64. The header has 64 hexadecimal digits.${isOther ? " If the receiver uses a library of Standard Webhooks, turn on Standard Webhooks headers in the webhook's settings, then replay the delivery." : ""}`,
		);
	return prefixed ? formFound("The header has only the 64 digits, without anything before them.") : null;
}

/** The same for the header of Standard Webhooks, which some read with and some without its `v1,`. */
function standardFormFinding({ notation }: GivenSignature): Finding | null {
	if (notation === "base64") return null;
	return formFound(
		notation === "base64url"
			? "The signature is in base64 for URLs, or without padding. The header has plain base64, which ends with =."
			: "The signature is in hexadecimal. The header of Standard Webhooks has base64.",
	);
}
