import type { Cut, Pipe } from "./pipe.ts";
import type { Receiver } from "./receiver.ts";
import type { Draw, NetworkObserver, SeenRequest, Streams, Time } from "./types.ts";

/** What connections need of the network that they are part of. */
export interface Wires {
	readonly time: Time;
	readonly streams: Streams;
	readonly observer: NetworkObserver;
	/** All requests that were written, unless none are kept. */
	readonly requests: SeenRequest[] | null;
	readonly faults: string[];
	nextConnection(): number;
	nextRequest(): number;
	latencyOf(node: string, address: string, draw: Draw): number;
	cutBetween(node: string, address: string): Cut | null;
	receiverAt(address: string): Receiver | null;
	readonly onHeld: (pipe: Pipe) => void;
}
