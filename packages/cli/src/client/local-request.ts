/** Requests to a receiver under development, signed as the service signs them. */
import { DEFAULT_BRAND, requestHeaders, secretDigest, sign, signingKey } from "@posthorn/protocol";

export interface LocalEvent {
	readonly id: string;
	readonly type: string;
	/** The exact bytes to sign and send. */
	readonly body: Uint8Array;
}

export interface Signer {
	readonly secret: string;
	/** The word in the header names. */
	readonly brand?: string;
}

/** What became of a request. */
export type LocalOutcome =
	| { readonly kind: "responded"; readonly status: number; readonly ms: number; readonly body: string }
	/** Nothing listens there, the connection broke, or a proxy says that the receiver is away. */
	| { readonly kind: "away"; readonly reason: string; readonly ms: number };

/** As much of the response as the delivery log keeps, bytes. */
const KEPT_BYTES = 1_024;
/** A proxy in front of the receiver reports that it is restarting. */
const AWAY: ReadonlySet<number> = new Set([502, 503, 504]);

/** The headers of a request that is signed now. */
export function signedHeaders({ id, type, body }: LocalEvent, { secret, brand = DEFAULT_BRAND }: Signer) {
	const timestamp = Math.floor(Date.now() / 1_000);
	const signature = sign(signingKey(secretDigest(secret)), timestamp, body);
	return requestHeaders({ brand, eventType: type, eventId: id, timestamp, signature });
}

/**
 * Posts an event. Redirects aren't followed. It waits for the response as long as `fetch` does, five minutes, so that a
 * receiver can be debugged; not answering in time counts as away.
 */
export async function post(
	target: URL,
	event: LocalEvent,
	signer: Signer,
	signal?: AbortSignal,
): Promise<LocalOutcome> {
	const begun = performance.now();
	const since = () => Math.round(performance.now() - begun);
	try {
		const response = await fetch(target, {
			method: "POST",
			headers: signedHeaders(event, signer),
			body: new Uint8Array(event.body),
			redirect: "manual",
			...(signal && { signal }),
		});
		const ms = since();
		const { status, statusText } = response;
		const body = await readStart(response);
		if (AWAY.has(status)) return { kind: "away", reason: `it responds with ${status} ${statusText}`.trim(), ms };
		return { kind: "responded", status, ms, body };
	} catch (error) {
		signal?.throwIfAborted();
		return { kind: "away", reason: reasonOf(error as Error), ms: since() };
	}
}

/** The start of a body. A response counts from its status on, even if its body breaks off. */
async function readStart(response: Response): Promise<string> {
	const chunks: Uint8Array[] = [];
	let bytes = 0;
	try {
		for await (const chunk of response.body ?? []) {
			chunks.push(chunk);
			bytes += chunk.length;
			if (bytes >= KEPT_BYTES) break;
		}
	} catch {
		// It broke off.
	}
	return Buffer.concat(chunks).subarray(0, KEPT_BYTES).toString();
}

const REASONS: Readonly<Record<string, string>> = {
	ECONNREFUSED: "nothing listens there",
	ECONNRESET: "the connection broke",
	UND_ERR_SOCKET: "the connection broke",
	UND_ERR_HEADERS_TIMEOUT: "no response within 5 minutes",
	ENOTFOUND: "its host name can't be resolved",
};

function reasonOf({ message, cause }: Error): string {
	const { code = "", message: why = message } = (cause ?? {}) as { code?: string; message?: string };
	return REASONS[code] ?? (why || code || message);
}
