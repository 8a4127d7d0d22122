import type { Happening } from "../happenings.ts";
import type { Ledger } from "./ledger.ts";
import type { Wire } from "./wire.ts";

/** One promise, and how to see that it is broken. */
export interface Check {
	/** The promise, as a heading: `first attempts come in log order`. */
	readonly promise: string;
	/** Called for each happening, before ledger and wire know of it. */
	on?(happening: Happening): void;
	/** Called once, when the world has come to rest. */
	end?(): void;
}

/** What checks go by, and how they speak up. */
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
	/** Whether a database that went on from an earlier state may still explain what is seen of this project. */
	isUnsettled(projectId: string): boolean;
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
