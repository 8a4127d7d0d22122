import {
	DEFAULT_BRAND,
	headerNames,
	isBrand,
	isInMilliseconds,
	TIMESTAMP_TOLERANCE_S,
} from "../../protocol/src/headers.ts";
import { isMissingSecret } from "../../protocol/src/missing-secret.ts";
import { parseEvent, type WebhookEvent } from "./event.ts";
import { explainMismatch } from "./mismatch.ts";
import { isSigned, utf8 } from "./signature.ts";
import { WebhookError } from "./webhook-error.ts";

/** The body as it came: its bytes, or text that was decoded from UTF-8 and is otherwise unchanged. */
export type Body = Uint8Array | ArrayBuffer | string;

export interface VerifyOptions {
	/** How far the timestamp may differ from the clock, seconds. 300 by default. */
	readonly tolerance?: number | undefined;
	/** The current time, milliseconds since the Unix epoch, or a clock that returns it. `Date.now` by default. */
	readonly now?: number | (() => number) | undefined;
	/** The word in the header names, if the operator changed it (`POSTHORN_BRAND`). `Service` by default. */
	readonly brand?: string | undefined;
}

/**
 * Checks that Posthorn sent this request, recently, and returns its event. Pass the body before any parsing.
 *
 * @param body Its type allows nothing because servers' types do. Nothing is refused like any other wrong body.
 * @param secret The webhook's signing secret, `whsec_…`. An array of several while you rotate it: one of them must match.
 * @throws {WebhookError} if the request must not be trusted, with the status to respond with
 * @throws {TypeError | RangeError} if a secret is empty or an option is out of range, which is the caller's mistake
 */
export async function verify(
	body: Body | null | undefined,
	headers: HeadersInput,
	secret: string | readonly string[],
	options: VerifyOptions = {},
): Promise<WebhookEvent> {
	const secrets = checkedSecrets(secret);
	const { tolerance, now, brand } = checkedOptions(options);
	checkHeaders(headers);
	const names = headerNames(brand);
	const timestamp = readTimestamp(headers, names.timestamp, tolerance, now);
	const signature = readSignature(headers, names.signature);
	const bytes = toBytes(body);
	for (const one of secrets) {
		if (await isSigned(one, timestamp, bytes, signature)) return parseEvent(bytes);
	}
	throw await explainMismatch(secrets, timestamp, bytes, signature);
}

/** Throws a TypeError unless there are secrets and none is missing: anyone can sign with a key that is easy to guess. */
export function checkedSecrets(secret: string | readonly string[], hint = ""): readonly string[] {
	const secrets = typeof secret === "string" || !Array.isArray(secret) ? [secret] : secret;
	if (secrets.length === 0 || secrets.some((one) => typeof one !== "string" || isMissingSecret(one))) {
		throw new TypeError(
			"The webhook's signing secret is missing. Pass the whsec_… that was shown when the webhook was created; " +
				`is its environment variable set, and filled in?${hint}`,
		);
	}
	return secrets as readonly string[];
}

/** Fills in the defaults. Throws a RangeError for a tolerance or brand that would accept everything or nothing. */
export function checkedOptions({
	tolerance = TIMESTAMP_TOLERANCE_S,
	now = Date.now,
	brand = DEFAULT_BRAND,
}: VerifyOptions) {
	if (!(tolerance >= 0 && Number.isFinite(tolerance))) {
		throw new RangeError(`tolerance is ${tolerance}; give a number of seconds from 0.`);
	}
	if (!isBrand(brand)) {
		throw new RangeError(`brand is "${brand}"; give the word in the header names, such as Service.`);
	}
	return { tolerance, now, brand };
}

/** Programs in JavaScript may pass none, a property that their server doesn't have, or Node's `rawHeaders`. */
function checkHeaders(headers: unknown): void {
	if (typeof headers === "object" && headers !== null && !Array.isArray(headers)) return;
	throw new WebhookError(
		"headers_not_passed",
		`verify got ${Array.isArray(headers) ? "an array instead of" : "no"} headers. Pass the request's, as its second argument: request.headers, as an object or Headers.`,
	);
}

function readTimestamp(headers: HeadersInput, name: string, tolerance: number, now: number | (() => number)): string {
	const [timestamp, second] = headerValues(headers, name.toLowerCase());
	if (timestamp === undefined) throw new WebhookError("timestamp_missing", missing(name));
	if (second !== undefined) throw new WebhookError("timestamp_repeated", repeated(name));
	if (!/^[0-9]{1,15}$/.test(timestamp)) {
		throw new WebhookError("timestamp_malformed", `${name} is not a Unix time in whole seconds, in decimal digits.`);
	}
	const seconds = Math.floor((typeof now === "function" ? now() : now) / 1_000);
	const age = seconds - Number(timestamp);
	// Written so that a clock that isn't a number refuses the request, too.
	if (Math.abs(age) <= tolerance) return timestamp;
	if (age < 0 && isInMilliseconds(Number(timestamp))) {
		throw new WebhookError(
			"timestamp_too_new",
			`${name} is ${timestamp}, which looks like milliseconds, but has to be in seconds. Pass the header's value as it arrived.`,
		);
	}
	if (age < 0) {
		throw new WebhookError(
			"timestamp_too_new",
			`${name} is ${-age} s ahead of this machine's clock; ${tolerance} s are allowed. Is the clock slow?`,
		);
	}
	throw new WebhookError(
		"timestamp_too_old",
		`${name} is ${age} s old; ${tolerance} s are allowed. The request was delayed or replayed, or the clock is fast.`,
	);
}

function readSignature(headers: HeadersInput, name: string): string {
	const [signature, second] = headerValues(headers, name.toLowerCase());
	if (signature === undefined) throw new WebhookError("signature_missing", missing(name));
	if (second !== undefined) throw new WebhookError("signature_repeated", repeated(name));
	if (/^[0-9a-f]{64}$/.test(signature)) return signature;
	throw new WebhookError("signature_malformed", `${name} is not 64 lower-case hexadecimal digits.`);
}

function missing(name: string): string {
	return `The header ${name} is missing. Does this request come from Posthorn, did a proxy drop it, or did the operator set another brand?`;
}

function repeated(name: string): string {
	return `The header ${name} was sent more than once, so it isn't clear which value was signed.`;
}

function toBytes(body: Body | null | undefined): Uint8Array {
	if (typeof body === "string") return utf8(body);
	if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
	if (isArrayBuffer(body)) return new Uint8Array(body);
	const unread = unreadKind(body);
	if (unread !== undefined) {
		throw new WebhookError(
			"body_not_read",
			`verify got ${unread} instead of the body's bytes. Read them first, such as with await request.arrayBuffer(), or in ` +
				'Express with express.raw({ type: "*/*", limit: "1mb" }).',
		);
	}
	throw new WebhookError(
		"body_parsed",
		"The body has already been parsed, and serializing it again may change it. Pass the raw bytes: verify before any JSON " +
			"parser reads the request, or pass what it kept, such as request.rawBody.",
	);
}

/** What programs in JavaScript pass by accident before the body is read; undefined for a parsed body. */
function unreadKind(body: unknown): string | undefined {
	if (body === undefined || body === null) return "nothing";
	const has = (name: string) => typeof (body as Record<string, unknown>)[name] === "function";
	if (has("then")) return "a promise";
	if (has("arrayBuffer")) return "a request";
	if (has("getReader") || has("pipe")) return "a stream";
	// Express 4 leaves one if none of its parsers took the request.
	return Object.prototype.toString.call(body) === "[object Object]" && Object.keys(body).length === 0
		? "an empty object"
		: undefined;
}

/** True even for one from another realm, such as a test runner's or a `node:vm` context's. */
function isArrayBuffer(body: unknown): body is ArrayBuffer {
	return Object.prototype.toString.call(body) === "[object ArrayBuffer]";
}

/**
 * Headers as servers hand them over: `Headers` of the Fetch API, or an object or Map with names in any case, such as
 * Node's `request.headers`.
 */
export type HeadersInput =
	| { get(name: string): string | null | undefined }
	| Readonly<Record<string, string | readonly string[] | undefined>>;

/** The header's values, none if it is missing or empty. `name` is in lower case. */
function headerValues(headers: HeadersInput, name: string): readonly string[] {
	// A Map finds only names in the same case.
	const found = isMap(headers) ? Object.fromEntries<string>(headers) : headers;
	const values = isLookup(found) ? [found.get(name) ?? ""] : valuesOf(found, name);
	// Servers join the values of a repeated header with commas, which no header of ours contains.
	// Programs in JavaScript may pass a number as the timestamp.
	return values.map(String).flatMap((value) => (value === "" ? [] : value.split(",")));
}

function isLookup(headers: HeadersInput): headers is { get(name: string): string | null | undefined } {
	return typeof headers.get === "function";
}

function isMap(headers: unknown): headers is ReadonlyMap<string, string> {
	return Object.prototype.toString.call(headers) === "[object Map]";
}

function valuesOf(
	headers: Readonly<Record<string, string | readonly string[] | undefined>>,
	name: string,
): readonly string[] {
	return Object.entries(headers)
		.filter(([given]) => given.toLowerCase() === name)
		.flatMap(([, value]) => value ?? []);
}
