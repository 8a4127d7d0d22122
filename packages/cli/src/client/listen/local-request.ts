/** Requests to a receiver under development, signed as the service signs them. */
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { DEFAULT_BRAND, requestHeaders, secretDigest, sign, signingKey } from "@posthorn/protocol";
import { isUntrusted, UNTRUSTED_ADVICE } from "../../untrusted.ts";
import { lookupTarget } from "./target.ts";

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
	/** Nothing listens there, or the connection broke. */
	| { readonly kind: "away"; readonly reason: string; readonly ms: number };

/** How long a receiver may be silent, milliseconds. */
const SILENT_MS = 300_000;
/** Agents of our own use no proxy, whatever the environment says: events for this machine don't leave it. */
const HTTP = { request: httpRequest, agent: new HttpAgent() };
const HTTPS = { request: httpsRequest, agent: new HttpsAgent() };
/** As much of the response as the delivery log keeps, bytes. */
const KEPT_BYTES = 1_024;
/** How long to wait for that, milliseconds; as a delivery does. */
const BODY_MS = 1_000;

/** The headers of a request that is signed now. */
function signedHeaders({ id, type, body }: LocalEvent, { secret, brand = DEFAULT_BRAND }: Signer) {
	const timestamp = Math.floor(Date.now() / 1_000);
	const signature = sign(signingKey(secretDigest(secret)), timestamp, body);
	return requestHeaders({ brand, eventType: type, eventId: id, timestamp, signature });
}

/**
 * Posts an event, without redirects and proxies. It waits five minutes for the response, so that a receiver can be
 * debugged; not answering in time counts as away.
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
		const response = await respond(target, event, signer, signal);
		const ms = since();
		const body = await readStart(response);
		return { kind: "responded", status: response.statusCode ?? 0, ms, body };
	} catch (error) {
		signal?.throwIfAborted();
		return { kind: "away", reason: reasonOf(error as Error, target), ms: since() };
	}
}

/** Sends the request. Resolves with the response once its headers have arrived. */
function respond(target: URL, event: LocalEvent, signer: Signer, signal?: AbortSignal): Promise<IncomingMessage> {
	const { request, agent } = target.protocol === "https:" ? HTTPS : HTTP;
	return new Promise((resolve, reject) => {
		const sent = request(target, {
			method: "POST",
			headers: signedHeaders(event, signer),
			agent,
			lookup: lookupTarget,
			timeout: SILENT_MS,
			...(signal && { signal }),
		});
		sent.on("response", resolve).on("error", reject);
		sent.on("timeout", () => sent.destroy(new Error("no response within 5 minutes")));
		// Such as after a response that switches protocols.
		sent.on("close", () => reject(new Error("the connection broke")));
		sent.end(event.body);
	});
}

/** The start of a body. A response counts from its status on, even if its body breaks off or never ends. */
async function readStart(response: IncomingMessage): Promise<string> {
	const chunks: Uint8Array[] = [];
	let bytes = 0;
	const timer = setTimeout(() => response.destroy(), BODY_MS);
	try {
		for await (const chunk of response) {
			chunks.push(chunk);
			bytes += chunk.length;
			if (bytes >= KEPT_BYTES) break;
		}
	} catch {
		// It broke off, or took too long.
	} finally {
		clearTimeout(timer);
	}
	return Buffer.concat(chunks).subarray(0, KEPT_BYTES).toString();
}

const REASONS: Readonly<Record<string, string>> = {
	ECONNREFUSED: "nothing listens there",
	ECONNRESET: "the connection broke",
	EPIPE: "the connection broke",
	EPROTO: "it doesn't speak TLS as expected",
	ENOTFOUND: "its host name can't be resolved",
};

/** How servers that speak TLS end a connection that doesn't. */
const ENDED: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE"]);

function reasonOf(error: NodeJS.ErrnoException, { protocol, host, pathname }: URL): string {
	if (isUntrusted(error)) return UNTRUSTED_ADVICE;
	const { code = "", message } = error;
	const reason = REASONS[code] ?? (message || code);
	return protocol === "http:" && ENDED.has(code)
		? `${reason}; if it speaks HTTPS, give its URL: https://${host}${pathname}`
		: reason;
}
