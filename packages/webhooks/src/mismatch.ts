/**
 * Finds out why a signature doesn't match: it repeats the check with the changes that receivers make by accident. Nothing
 * that it finds makes a request valid, and only someone who can sign for the secret can make it find anything.
 */
import { changedBodies, hasByteOrderMark } from "../../protocol/src/body-changes.ts";
import { unquoted } from "../../protocol/src/missing-secret.ts";
import { isSigned } from "./signature.ts";
import { WebhookError, type WebhookErrorCode } from "./webhook-error.ts";

/** Larger bodies aren't examined, so that a forged request costs only a few hashes more than a genuine one. */
const EXAMINED_BYTES = 65_536;

interface Suspect {
	readonly code: WebhookErrorCode;
	readonly message: string;
	readonly secret?: string;
	readonly body?: Uint8Array;
}

/** The error for a signature that matches none of the secrets. */
export async function explainMismatch(
	secrets: readonly string[],
	timestamp: string,
	body: Uint8Array,
	signature: string,
): Promise<WebhookError> {
	if (body.length === 0) {
		return new WebhookError(
			"body_not_read",
			"The body is empty, and Posthorn sends none that are. Something has probably read the request before: verify " +
				"first, or pass the bytes that it kept, such as request.rawBody.",
		);
	}
	const suspects = body.length > EXAMINED_BYTES ? [] : [...bodySuspects(body)];
	for (const secret of secrets) {
		for (const suspect of [...secretSuspects(secret), ...suspects]) {
			if (await isSigned(suspect.secret ?? secret, timestamp, suspect.body ?? body, signature)) {
				return new WebhookError(suspect.code, suspect.message);
			}
		}
	}
	return new WebhookError(
		"signature_mismatch",
		"The signature doesn't match. Either the secret belongs to another webhook or was rotated, or the body is not the " +
			"one that was sent: pass its raw bytes, not JSON that was parsed and serialized again.",
	);
}

function* secretSuspects(secret: string): Generator<Suspect> {
	const trimmed = secret.trim();
	const bare = unquoted(trimmed);
	if (trimmed !== secret) {
		const message = "The secret has whitespace around it. Remove it, often a line break at the end of a file.";
		yield { code: "secret_whitespace", secret: trimmed, message };
	}
	if (bare !== trimmed) {
		const message = "The secret is in quotes. Remove them; not every reader of environment files does.";
		yield { code: "secret_quoted", secret: bare, message };
	}
	if (!bare.startsWith("whsec_")) {
		const message = "The secret lacks its prefix. Use all of it, with whsec_ at the start.";
		yield { code: "secret_prefix", secret: `whsec_${bare}`, message };
	}
}

function* bodySuspects(body: Uint8Array): Generator<Suspect> {
	const decoded = fromBase64(body);
	if (decoded !== undefined) {
		const message =
			"The body is still encoded in base64, as AWS Lambda gets it if isBase64Encoded is true. Decode it first: " +
			'Buffer.from(event.body, event.isBase64Encoded ? "base64" : "utf8").';
		yield { code: "body_base64", message, body: decoded };
	}
	for (const { change, body: other } of changedBodies(body)) {
		if (change === "byte_order_mark") {
			const message = hasByteOrderMark(body)
				? "The body starts with a byte order mark that was not sent. Pass the raw bytes."
				: "The body was sent with a byte order mark, which is missing. Reading the body as text drops it: pass the raw bytes.";
			yield { code: "body_byte_order_mark", message, body: other };
		} else {
			const message =
				"The body was changed after it was sent: parsed and serialized again, or trimmed. Pass the raw bytes.";
			yield { code: "body_reserialized", message, body: other };
		}
	}
}

/** Undefined if the body isn't base64. JSON never is: it has braces. */
function fromBase64(body: Uint8Array): Uint8Array | undefined {
	const text = new TextDecoder().decode(body);
	if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined;
	try {
		return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
	} catch {
		return undefined;
	}
}
