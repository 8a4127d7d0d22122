import type { SigningKey } from "@posthorn/protocol";
import type { Sent } from "./outcome.ts";

/** One attempt to make: an event on its way to a webhook. */
export interface Shipment {
	readonly eventId: string;
	readonly eventType: string;
	/** The exact bytes of the event's envelope, sent as they are stored. */
	readonly body: Uint8Array;
	/** The destination and key, read at the last moment so that edits and rotations apply immediately. */
	readonly target: Target;
	/** Called right before signing and writing: whether this node still holds the project's lease. */
	mayLeave(): boolean;
	/** Called each time the request is written: from then on the receiver may have it. */
	onWritten?(): void;
}

/** A webhook as the sender sees it. Its fields change when the owner edits the webhook. */
export interface Target {
	/** The project's id, for fairness between tenants. */
	readonly projectId: string;
	readonly url: string;
	/** Derived from the signing secret's SHA-256. */
	readonly key: SigningKey;
	/** For the headers of Standard Webhooks, if the owner asked for them. */
	readonly standardKey?: SigningKey | null;
	/** Whether requests may be sent: the webhook is neither paused nor deleted. */
	readonly active: boolean;
}

export interface Sender {
	/** Makes one attempt. Always resolves: failures are in the outcome. */
	send(shipment: Shipment): Promise<Sent>;
	/** Closes idle connections; attempts in flight may finish. */
	close(): Promise<void>;
}
