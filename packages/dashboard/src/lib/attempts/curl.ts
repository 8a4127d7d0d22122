import { shortTime } from "../text/time.ts";

/** A request as it was sent. */
export interface SentRequest {
	readonly method: string;
	readonly url: string;
	readonly headers: Readonly<Record<string, string>>;
	readonly body: string;
}

/**
 * Maximum length of a body passed as an argument, in UTF-8 bytes: Linux accepts arguments of up to 128 KiB. Longer ones
 * are piped from the shell's own printf.
 */
const MAX_ARGUMENT_BYTES = 96 * 1_024;

/** Headers that curl derives from the URL and the body. */
const MADE_BY_CURL = new Set(["host", "content-length", "connection"]);

/** A word of a POSIX shell command that means exactly `text`: nothing inside single quotes is special. */
export const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** `Name;` tells curl to send a header without a value. */
const headerArgument = (name: string, value: string) => (value === "" ? `${name};` : `${name}: ${value}`);

/**
 * A POSIX shell command that sends the request again, byte for byte: method, URL, headers and body. The signature stays
 * the original one. The body must not contain NUL, which no shell can handle; JSON never does.
 */
export function curlCommand({ method, url, headers, body }: SentRequest): string {
	const piped = new TextEncoder().encode(body).length > MAX_ARGUMENT_BYTES;
	const parts = [
		`curl -X ${quote(method)} ${quote(url)}`,
		// Without it, curl reads brackets and braces in a URL as patterns.
		...(/[[\]{}]/.test(url) ? ["--globoff"] : []),
		...Object.entries(headers)
			.filter(([name]) => !MADE_BY_CURL.has(name.toLowerCase()))
			.map(([name, value]) => `-H ${quote(headerArgument(name, value))}`),
		piped ? "--data-binary @-" : `--data-raw ${quote(body)}`,
	];
	const command = parts.join(" \\\n  ");
	return piped ? `printf '%s' ${quote(body)} | ${command}` : command;
}

/** How long a copied request is valid. */
export function signatureWords({ headers }: Pick<SentRequest, "headers">, now: number): string {
	const until = signedUntil(headers);
	if (until === null) return "";
	const at = shortTime(until, now, { seconds: true });
	return until > now
		? `Receivers accept its signature until ${at}.`
		: `Receivers that check the timestamp now refuse it: its signature was valid for 5 minutes, until ${at}.`;
}

/** How long receivers accept a signature after its timestamp, in milliseconds. */
const SIGNATURE_HOLDS_MS = 5 * 60_000;

/** Until when receivers accept a request's signature, in milliseconds since 1970; null if it wasn't signed. */
function signedUntil(headers: SentRequest["headers"]): number | null {
	const name = Object.keys(headers).find((header) => /^x-.+-timestamp$/i.test(header));
	const seconds = Number(headers[name ?? ""] ?? Number.NaN);
	return Number.isInteger(seconds) ? seconds * 1_000 + SIGNATURE_HOLDS_MS : null;
}
