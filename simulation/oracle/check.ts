import type { Happening } from "../happenings.ts";
import type { Ledger, LedgerWebhook } from "./ledger.ts";
import type { Quiet } from "./promises/quiet.ts";
import type { Wire } from "./wire.ts";

/** One promise, and how to see that it is broken. */
export interface Check {
	/** The promise, as a heading: `first attempts come in log order`. */
	readonly promise: string;
	/** Called for each happening, before ledger and wire know of it. */
	on?(happening: Happening): void;
	/** Called once in a while, whether anything happens or not. */
	look?(): void;
	/** Called once, when the world has come to rest. */
	end?(): void;
}

/** The evidence for checks, and how they report. */
export interface Witness {
	readonly ledger: Ledger;
	readonly wire: Wire;
	readonly facts: WorldFacts;
	/** True time, milliseconds from the world's beginning. */
	now(): number;
	/** By this node's own clock; milliseconds since the Unix epoch. */
	nodeNow(node: string): number;
	/** How far two clocks of the world may have been apart, milliseconds. */
	disagreementMs(): number;
	readonly quiet: Quiet;
	/** Whether what is stored of this webhook must be in force, though no answer said so: it has been for a quiet while. */
	isInForce(webhook: LedgerWebhook): boolean;
	/**
	 * Whether this node may still run the project by what the database has lost: for a lease's duration after it went back,
	 * and no longer than until the node was granted the lease again, or kept it.
	 */
	isUnsettled(projectId: string, node: string): boolean;
	/** Whether this node may know of a settled first attempt of this event that the database has lost. */
	isForgotten(webhook: LedgerWebhook, seq: number, node: string): boolean;
	/** When the database last continued from an earlier state, by true time; minus infinity if never. */
	restoredAt(): number;
	/** The promise is broken. */
	broken(about: About, message: string): void;
}

/** How the service is configured. */
export interface WorldFacts {
	readonly retryDelaysMs: readonly number[];
	readonly attemptTimeoutMs: number;
	readonly leaseTermMs: number;
	readonly retentionMs: number;
	/** Where nodes share the database. */
	readonly manyNodes: boolean;
	readonly brand: string;
	readonly sealKey: Uint8Array;
}

export interface About {
	readonly projectId?: string;
	readonly webhookId?: string;
	readonly eventId?: string;
}
