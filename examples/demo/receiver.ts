import { type Action, type Authority, type ReceivedRequest, startReceiver } from "@posthorn/testkit";
import { AT_ONCE, type Manner, type Treatment } from "./trouble.ts";

const REFUSED = { kind: "answer", status: 401, afterMs: 0 } as const;

/** The result of a receiver's own check of a request. */
export interface Verdict {
	/** Signature and timestamp are valid. */
	readonly verified: boolean;
	/** The receiver had already accepted the event, so it responded with 200 and ignored it. */
	readonly duplicate: boolean;
}

/** One request, as a receiver saw it. */
export interface Receipt extends Verdict {
	readonly url: string;
	readonly eventId: string;
	readonly signature: string;
	/** The receiver accepted the event with a 2xx, whether or not in time. */
	readonly accepted: boolean;
	/** When the request had been read, on `performance.now()`'s clock. */
	readonly receivedAt: number;
}

export interface OpenReceiver {
	readonly url: string;
	/** Sets the secret to verify requests with; until then none is accepted. */
	useSecret(secret: string): void;
	close(): Promise<void>;
}

export interface OpenReceiverOptions {
	readonly authority: Authority;
	readonly path: string;
	readonly manner: Manner;
	readonly onReceipt: (receipt: Receipt) => void;
}

/** Starts a receiver that verifies and deduplicates requests, as receivers should, and treats the rest by `manner`. */
export async function openReceiver({ authority, path, manner, onReceipt }: OpenReceiverOptions): Promise<OpenReceiver> {
	const accepted = new Set<string>();
	/** How often each event's content was received. */
	const receptions = new Map<string, number>();

	// `onReceipt` gets every request immediately, so the receiver doesn't have to keep any.
	const receiver = await startReceiver({ authority, respond, keep: 1 });
	const url = receiver.ipUrl(path);
	return {
		url,
		useSecret: (secret) => receiver.setSecret(secret),
		close: () => receiver.close(),
	};

	function respond(request: ReceivedRequest): Action {
		const receivedAt = performance.now();
		const eventId = request.headers["x-service-event-id"] ?? "";
		const signature = request.headers["x-service-signature"] ?? "";
		const verified = request.verified === true;
		const duplicate = verified && accepted.has(eventId);
		const treatment = !verified ? REFUSED : duplicate ? AT_ONCE : treat(request.rawBody.toString());
		const taken = treatment.kind === "answer" && treatment.status < 300;
		if (taken) accepted.add(eventId);
		onReceipt({ url, eventId, signature, verified, duplicate, accepted: taken, receivedAt });
		return treatment.kind === "reset" ? "reset" : { status: treatment.status, delayMs: treatment.afterMs };
	}

	/** Depends on the event's content, which a seed repeats, not on its id and time, which it doesn't. */
	function treat(body: string): Treatment {
		const { type, data } = JSON.parse(body) as { type: string; data: unknown };
		const content = `${type} ${JSON.stringify(data)}`;
		const reception = (receptions.get(content) ?? 0) + 1;
		receptions.set(content, reception);
		return manner(content, reception);
	}
}
