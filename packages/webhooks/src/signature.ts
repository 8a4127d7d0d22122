/**
 * HMAC-SHA256 with Web Crypto, which Node, Bun, Deno, workers and browsers share. The key is the UTF-8 bytes of the whole
 * secret, prefix included.
 */

const ALGORITHM = { name: "HMAC", hash: "SHA-256" } as const;
const encoder = new TextEncoder();

export function utf8(text: string): Uint8Array<ArrayBuffer> {
	return encoder.encode(text);
}

/** The signature of a request as 64 lower-case hexadecimal digits. */
export async function sign(secret: string, timestamp: string, body: Uint8Array): Promise<string> {
	const key = await crypto.subtle.importKey("raw", utf8(secret), ALGORITHM, false, ["sign"]);
	const bytes = new Uint8Array(await crypto.subtle.sign(ALGORITHM.name, key, signedText(timestamp, body)));
	return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Whether `signature`, 64 hexadecimal digits, is right. Web Crypto compares in constant time. */
export async function isSigned(
	secret: string,
	timestamp: string,
	body: Uint8Array,
	signature: string,
): Promise<boolean> {
	const key = await crypto.subtle.importKey("raw", utf8(secret), ALGORITHM, false, ["verify"]);
	const bytes = Uint8Array.from(signature.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));
	return crypto.subtle.verify(ALGORITHM.name, key, bytes, signedText(timestamp, body));
}

function signedText(timestamp: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
	const head = utf8(`${timestamp}.`);
	const text = new Uint8Array(head.length + body.length);
	text.set(head);
	text.set(body, head.length);
	return text;
}
