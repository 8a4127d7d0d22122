/** `posthorn verify`: checks a request's signature at the keyboard, and says what is wrong with it. */
import { DEFAULT_BRAND, headerNames, isBrand, isInMilliseconds, TIMESTAMP_TOLERANCE_S } from "@posthorn/protocol";
import { verify as verifyRequest, WebhookError } from "@posthorn/webhooks";
import { colors } from "../colors.ts";
import { UsageError } from "../command-error.ts";
import { ask, canAsk } from "./ask.ts";
import { type ConnectionOptions, connect } from "./connection.ts";
import { checkIds } from "./ids.ts";
import { ago, clean, note, printJson, warn } from "./output.ts";
import { checkSecret, secretOfEnvironment } from "./signing-secret.ts";
import { checkBrand, readInput } from "./trigger.ts";

export interface VerifyOptions extends ConnectionOptions {
	readonly body?: string;
	readonly header?: readonly string[];
	readonly timestamp?: string;
	readonly signature?: string;
	readonly secretFile?: string;
	readonly brand?: string;
	readonly event?: string;
}

type Names = ReturnType<typeof headerNames>;
/** By name, in lower case. */
type RequestHeaders = Readonly<Record<string, string>>;

const CONTEXT_BYTES = 24;
/** A header line, with or without the mark that curl writes before it. */
const HEADER = /^\s*(?:[<>]\s+)?([^\s:]+)\s*:\s*(.*?)\s*$/;

export async function verify(options: VerifyOptions): Promise<void> {
	const { brand = DEFAULT_BRAND } = options;
	checkBrand(brand);
	checkIds({ event: options.event });
	const names = headerNames(brand);
	const headers = headersOf(options, names);
	const isSigned = [options.header, options.timestamp, options.signature].some((given) => given !== undefined);
	if (isSigned) {
		checkScheme(headers, names);
		checkNames(headers, names);
	}
	if (isSigned || options.event === undefined) checkGiven(options, headers, names);
	const body = await readInput(options.body ?? "-", "--body");
	const sent = options.event === undefined ? null : await sentBytes(options.event, options);
	const difference = sent === null ? null : firstDifference(sent, body);

	let fault: WebhookError | null = null;
	if (isSigned) {
		const secret = await secretOf(options);
		const timestamp = headers[names.timestamp.toLowerCase()] ?? "";
		// Requests are old by the time someone looks at them: their age is only reported.
		const isTime = /^\d{1,15}$/.test(timestamp) && !isInMilliseconds(Number(timestamp));
		const signedAtMs = isTime ? Number(timestamp) * 1_000 : null;
		try {
			await verifyRequest(body, headers, secret, { brand, now: signedAtMs ?? Date.now() });
		} catch (error) {
			if (!(error instanceof WebhookError)) throw error;
			fault = error;
		}
		if (!options.json && signedAtMs !== null) warnOfAge(signedAtMs);
	} else if (!options.json) note("No signature was given, so only the bytes are compared.");

	if (fault || difference) process.exitCode = 1;
	if (options.json)
		return printJson({
			valid: fault === null && difference === null,
			...(fault && { code: fault.code, detail: fault.message }),
			...(sent && { same_bytes: difference === null }),
			...(difference && { first_difference: difference }),
		});
	if (sent && !difference)
		console.log(`${colors.green("✔")} The body has exactly the ${sent.length} bytes that were sent.`);
	if (difference) showDifference(difference);
	if (fault) console.log(`${colors.red("✘")} ${fault.message} ${colors.dim(`(${fault.code})`)}`);
	else if (isSigned) console.log(`${colors.green("✔")} The signature is valid.`);
}

function warnOfAge(signedAtMs: number): void {
	// A time in microseconds is an invalid date, which is never too old.
	const signedAt = new Date(signedAtMs);
	if (Math.abs(Date.now() - signedAt.getTime()) / 1_000 > TIMESTAMP_TOLERANCE_S)
		warn(`It was signed ${ago(signedAt.toISOString())}; receivers accept at most ${TIMESTAMP_TOLERANCE_S} s.`);
}

/** Headers from `-H "Name: value"` and the two shorthands. */
function headersOf({ header = [], timestamp, signature }: VerifyOptions, names: Names): RequestHeaders {
	const headers: Record<string, string> = {};
	for (const line of header) {
		const [, name, value] = HEADER.exec(line) ?? [];
		if (name === undefined) throw new UsageError([`--header is "${line}"; give "Name: value".`]);
		headers[name.toLowerCase()] = value!;
	}
	if (timestamp) headers[names.timestamp.toLowerCase()] = withoutName(timestamp, names.timestamp);
	if (signature) headers[names.signature.toLowerCase()] = withoutName(signature, names.signature);
	return headers;
}

/** The value of a header that may have been copied with its name. */
function withoutName(given: string, name: string): string {
	const [, before, value] = HEADER.exec(given) ?? [];
	return before?.toLowerCase() === name.toLowerCase() ? value! : given;
}

/**
 * Receivers with a library of Standard Webhooks see that signature.
 *
 * @throws UsageError if there is no other
 */
function checkScheme(headers: RequestHeaders, names: Names): void {
	const own = headers[names.signature.toLowerCase()];
	if (own === undefined ? headers["webhook-signature"] === undefined : !/^v1,/.test(own)) return;
	throw new UsageError([
		"This is the signature of Standard Webhooks, which this command doesn't check. The request carries another one:",
		`pass ${names.timestamp} and ${names.signature}. "Why is a signature refused?" on the webhook's Verify tab`,
		"in the dashboard takes both.",
	]);
}

/** @throws UsageError if both headers are those of another brand */
function checkNames(headers: RequestHeaders, names: Names): void {
	if (names.timestamp.toLowerCase() in headers || names.signature.toLowerCase() in headers) return;
	for (const name of Object.keys(headers)) {
		const brand = /^x-(.+)-signature$/.exec(name)?.[1];
		if (brand === undefined || !isBrand(brand) || !(headerNames(brand).timestamp.toLowerCase() in headers)) continue;
		throw new UsageError([
			`These headers are named X-${brand}-…, not ${names.signature}. If the operator set this brand, add --brand ${brand}.`,
		]);
	}
}

/**
 * Headers given with `-H` are the request's: one that is missing there is for the check to report.
 *
 * @throws UsageError if the caller left something out
 */
function checkGiven({ header, timestamp, signature }: VerifyOptions, headers: RequestHeaders, names: Names): void {
	const shorthands = [
		["--timestamp", timestamp, names.timestamp],
		["--signature", signature, names.signature],
	] as const;
	const missing = shorthands
		.filter(([, given, name]) => headers[name.toLowerCase()] === undefined && (header === undefined || given === ""))
		.map(([flag]) => flag);
	if (missing.length === 0) return;
	throw new UsageError([
		`${missing.join(" and ")} ${missing.length === 1 ? "is" : "are"} missing. Pass --timestamp and --signature as they arrived,`,
		'or the headers with -H "Name: value". To compare the body with the bytes that were sent, pass only --event evt_….',
	]);
}

async function secretOf({ secretFile }: VerifyOptions): Promise<string> {
	if (secretFile !== undefined) {
		const text = (await readInput(secretFile, "--secret-file")).toString();
		return checkSecret(text.replace(/\r?\n$/, ""), "--secret-file");
	}
	const secret = secretOfEnvironment();
	if (secret !== null) return secret;
	if (!canAsk())
		throw new UsageError(["The signing secret is missing: set WEBHOOK_SECRET, or name a file with --secret-file."]);
	const { default: password } = await import("@inquirer/password");
	const typed = await ask((context) => password({ message: "The webhook's signing secret (whsec_…)" }, context));
	return checkSecret(typed, "The answer");
}

async function sentBytes(eventId: string, options: ConnectionOptions): Promise<Buffer> {
	const { client } = await connect(options);
	return Buffer.from((await client.get(eventId)).event.raw);
}

interface Difference {
	/** Counted from 0. */
	readonly byte: number;
	readonly sent: string;
	readonly given: string;
	readonly sent_length: number;
	readonly given_length: number;
}

/** Null if the bytes are the same. */
export function firstDifference(sent: Uint8Array, given: Uint8Array): Difference | null {
	const length = Math.min(sent.length, given.length);
	let byte = 0;
	while (byte < length && sent[byte] === given[byte]) byte++;
	if (byte === sent.length && byte === given.length) return null;
	const around = (bytes: Uint8Array) =>
		Buffer.from(bytes.subarray(Math.max(0, byte - CONTEXT_BYTES), byte + CONTEXT_BYTES)).toString();
	return { byte, sent: around(sent), given: around(given), sent_length: sent.length, given_length: given.length };
}

/** Shows what is otherwise invisible and often is the difference: line breaks, tabs and a byte order mark. */
const pictured = (text: string): string =>
	text.replaceAll(/[\t\n\r]/g, (one) => PICTURES[one]!).replaceAll("\ufeff", "<byte order mark>");

const PICTURES: Readonly<Record<string, string>> = { "\t": "␉", "\n": "␊", "\r": "␍" };

function showDifference({ byte, sent, given, sent_length, given_length }: Difference): void {
	console.log(`${colors.red("✘")} The body differs from what was sent, first at byte ${byte + 1}:`);
	const excerpt = (text: string, length: number) => {
		const [start, end] = [byte > CONTEXT_BYTES ? "…" : "", byte + CONTEXT_BYTES < length ? "…" : ""];
		return `${start}${clean(pictured(text))}${end}  ${colors.dim(`(${length} bytes in all)`)}`;
	};
	console.log(`  ${colors.dim("sent  ")} ${excerpt(sent, sent_length)}`);
	console.log(`  ${colors.dim("given ")} ${excerpt(given, given_length)}`);
	if (given_length === sent_length + 1) note("One byte more: often a line break that an editor or echo has added.");
}
