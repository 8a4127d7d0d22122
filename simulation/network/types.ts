import type { Clock, Timer } from "../../packages/server/src/base/clock.ts";

/** The true time of a world, and what is to happen when. */
export interface Time {
	/** Milliseconds. */
	now(): number;
	/** Runs `run` at this time, after everything that was due then before. */
	at(ms: number, run: () => void): Timer;
}

/** Random numbers of one stream. */
export interface Draw {
	/** At least 0, below 1. */
	float(): number;
	/** A whole number from `min` to `max`, both included. */
	between(min: number, max: number): number;
	chance(probability: number): boolean;
}

/** The stream with this name: the same names give the same numbers. */
export type Streams = (...names: readonly (string | number)[]) => Draw;

/** The process of a node, as far as the network reaches into it. */
export interface Process {
	readonly name: string;
	/** Something arrives: runs `fn` now, later if the process stands still, and never if it is dead. */
	run(fn: () => void): void;
}

/** A node's own clock: what its sockets measure idle time with. */
export type NodeClock = Pick<Clock, "elapsed" | "setTimeout" | "setImmediate">;

/** A request, as it was written to the wire. */
export interface SeenRequest {
	/** 1, 2, 3 … in the order in which requests were written. */
	readonly no: number;
	readonly node: string;
	/** Numbered from 1 in the order in which connections were begun. */
	readonly connection: number;
	/** Whether its connection carried a request before. */
	readonly reused: boolean;
	/** The address that was connected to. */
	readonly address: string;
	/** Made of the `Host` header and the request line. */
	readonly url: string;
	readonly method: string;
	/** Path and query. */
	readonly path: string;
	/** By names in lower case. */
	readonly headers: ReadonlyMap<string, string>;
	readonly body: Buffer;
	/** When its last byte was written. */
	readonly sentAt: number;
	/** When its last byte reached the receiver; null if it did not, or not yet. */
	receivedAt: number | null;
	/** What the receiver does with it, in words; empty until it is whole. */
	behaviour: string;
	/** The final status, once its status line has reached the node. */
	status: number | null;
	respondedAt: number | null;
}

/** Observes the wire. */
export interface NetworkObserver {
	/** A node begins to connect to this address; `hostname` is what it indicates (SNI), empty for an address. */
	connecting?(node: string, address: string, hostname: string): void;
	/** The last byte of a request left the node. */
	sent?(request: SeenRequest): void;
	/** The receiver has the whole request. */
	received?(request: SeenRequest): void;
	/** The final status line reached the node's process. */
	responded?(request: SeenRequest, status: number): void;
	/** The node's end of the connection closed before a status line came. */
	broken?(request: SeenRequest, why: string): void;
}
