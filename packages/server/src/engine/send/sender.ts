import type { SigningKey } from "@posthorn/protocol";
import type { Sent } from "./outcome.ts";

/** One attempt to make: an event on its way to a webhook. */
export interface Shipment {
	readonly eventId: string;
	readonly eventType: string;
	/** The exact bytes of the event's envelope, sent as they are stored. */
	readonly body: Uint8Array;
	/** Where to and with which key, read anew at the last moment, so that rotation and edits hold at once. */
	readonly target: Target;
	/** Asked right before it is signed and written: whether this node still holds the project's lease. */
	mayLeave(): boolean;
	/** Called each time that the request is written: from then on the receiver may have it. */
	onWritten?(): void;
}

/** A webhook as the sender sees it. Its fields change when the owner edits the webhook. */
export interface Target {
	/** The project's id: what fairness between tenants is counted by. */
	readonly projectId: string;
	readonly url: string;
	/** Made of the signing secret's SHA-256. */
	readonly key: SigningKey;
	/** The webhook is paused or deleted: nothing may leave for it. */
	readonly withheld: boolean;
}

export interface Sender {
	/** Makes one attempt. Always resolves: what went wrong is in the outcome. */
	send(shipment: Shipment): Promise<Sent>;
	/** Ends idle connections; attempts under way are left to finish. */
	close(): Promise<void>;
}
