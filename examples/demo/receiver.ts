import { type Action, type Authority, type ReceivedRequest, startReceiver } from "@posthorn/testkit";
import { AT_ONCE, type Manner, type Treatment } from "./trouble.ts";

const REFUSED = { kind: "answer", status: 401, afterMs: 0 } as const;

/** What a receiver found when it checked a request by itself. */
export interface Verdict {
	/** Signature and timestamp are right. */
	readonly verified: boolean;
	/** The receiver had accepted the event before: answered with 200, and ignored. */
	readonly duplicate: boolean;
}

/** One request, as a receiver saw it. */
export interface Receipt extends Verdict {
	readonly url: string;
	readonly eventId: string;
	readonly signature: string;
	/** The receiver took the event: its answer is 2xx, whether or not it comes in time. */
	readonly accepted: boolean;
	/** When the request had been read, in `performance.now()`'s time. */
	readonly receivedAt: number;
}

export interface OpenReceiver {
	readonly url: string;
	/** The secret that requests are checked with; before there is one, none is accepted. */
	useSecret(secret: string): void;
	close(): Promise<void>;
}

export interface OpenReceiverOptions {
	readonly authority: Authority;
	readonly path: string;
	readonly manner: Manner;
	readonly onReceipt: (receipt: Receipt) => void;
}

/** Starts a receiver that checks and de-duplicates what it gets, as receivers should, and treats the rest in its manner. */
export async function openReceiver({ authority, path, manner, onReceipt }: OpenReceiverOptions): Promise<OpenReceiver> {
	const accepted = new Set<string>();
	/** How often each event's content was received, by that content. */
	const receptions = new Map<string, number>();

	// Every request is told to `onReceipt` at once; the receiver itself has to keep none.
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

	/** By what the event is about, which a seed repeats, and not by its id and time, which no seed does. */
	function treat(body: string): Treatment {
		const { type, data } = JSON.parse(body) as { type: string; data: unknown };
		const content = `${type} ${JSON.stringify(data)}`;
		const reception = (receptions.get(content) ?? 0) + 1;
		receptions.set(content, reception);
		return manner(content, reception);
	}
}
