import { createHmac, timingSafeEqual } from "node:crypto";

/** How far a timestamp may differ from the receiver's clock, seconds. */
const TOLERANCE_S = 300;

export interface VerifyOptions {
	/** The signing secret as the service showed it, including `whsec_`. */
	readonly secret: string;
	/** Names in any case. */
	readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
	/** The body's bytes as received, before any parsing. */
	readonly rawBody: Uint8Array;
	/** The receiver's time, epoch milliseconds. By default, the system clock's. */
	readonly now?: number | undefined;
	/** The word in the header names. By default, `Service`. */
	readonly brand?: string | undefined;
}

export type Verification =
	| { readonly ok: true; readonly event: unknown }
	| { readonly ok: false; readonly status: 400 | 401; readonly reason: string };

/**
 * What a receiver must check before it trusts a request: the timestamp is within {@link TOLERANCE_S} of its clock (else
 * 400), and the signature is the HMAC-SHA256 (RFC 2104), keyed with the secret, of timestamp, dot and raw body,
 * compared in constant time (else 401). A signed body that isn't JSON is 400.
 */
export function verifyRequest({ secret, headers, rawBody, now, brand = "Service" }: VerifyOptions): Verification {
	const timestamp = single(headers, `x-${brand}-timestamp`);
	if (timestamp === undefined || !/^[0-9]{1,15}$/.test(timestamp))
		return refuse(400, "the timestamp is missing or not a decimal number of whole seconds");
	const seconds = Math.floor((now ?? Date.now()) / 1000);
	if (Math.abs(seconds - Number(timestamp)) > TOLERANCE_S)
		return refuse(400, `the timestamp ${timestamp} is more than ${TOLERANCE_S} s from the receiver's ${seconds}`);

	const signature = single(headers, `x-${brand}-signature`);
	if (signature === undefined || !/^[0-9a-f]{64}$/.test(signature))
		return refuse(401, "the signature is missing or not 64 lowercase hexadecimal characters");
	const expected = createHmac("sha256", secret).update(`${timestamp}.`).update(rawBody).digest();
	if (!timingSafeEqual(expected, Buffer.from(signature, "hex")))
		return refuse(401, "the signature does not match the body, the timestamp and the secret");

	try {
		return { ok: true, event: JSON.parse(Buffer.from(rawBody).toString()) };
	} catch (error) {
		return refuse(400, `the body is signed but is not JSON: ${error instanceof Error ? error.message : error}`);
	}
}

function refuse(status: 400 | 401, reason: string): Verification {
	return { ok: false, status, reason };
}

/** A header's only value; none if it is missing or was sent more than once. */
function single(headers: VerifyOptions["headers"], name: string): string | undefined {
	const wanted = name.toLowerCase();
	const values = Object.entries(headers)
		.filter(([given]) => given.toLowerCase() === wanted)
		.flatMap(([, value]) => value ?? []);
	return values.length === 1 ? values[0] : undefined;
}
