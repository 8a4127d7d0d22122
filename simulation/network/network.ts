import { Names, NodeNameServers } from "./names.ts";
import { NodeNetwork } from "./node.ts";
import type { Cut, Pipe } from "./pipe.ts";
import type { Receiver } from "./receiver.ts";
import type { Draw, NetworkObserver, NodeClock, Process, SeenRequest, Streams, Time } from "./types.ts";
import type { Wires } from "./wires.ts";

export interface NetworkOptions {
	readonly time: Time;
	readonly streams: Streams;
	readonly observer?: NetworkObserver;
	/** Whether to keep all requests in `requests`; they are kept unless this is false. */
	readonly keepRequests?: boolean;
	/** How long something takes one way on a new connection, milliseconds: 1 to 40 unless given. */
	readonly latency?: (node: string, address: string, draw: Draw) => number;
}

interface CutWay {
	/** Null: any. */
	readonly node: string | null;
	readonly address: string | null;
	readonly how: Cut;
}

/** The network between nodes and receivers, the names of receivers, and everything that goes wrong with it. */
export class Network {
	readonly names = new Names();
	/** Requests in the order in which they were written. */
	readonly requests: SeenRequest[] = [];
	/** Invalid requests that nodes wrote: there should be none. */
	readonly faults: string[] = [];
	readonly #options: NetworkOptions;
	readonly #wires: Wires;
	readonly #receivers = new Map<string, Receiver>();
	readonly #cuts = new Set<CutWay>();
	readonly #held = new Set<Pipe>();
	#connections = 0;
	#requests = 0;

	constructor(options: NetworkOptions) {
		const { time, streams, observer = {}, latency = (_node, _address, draw) => draw.between(1, 40) } = options;
		this.#options = options;
		this.#wires = {
			time,
			streams,
			observer,
			requests: options.keepRequests === false ? null : this.requests,
			faults: this.faults,
			nextConnection: () => ++this.#connections,
			nextRequest: () => ++this.#requests,
			latencyOf: latency,
			cutBetween: (node, address) => this.#cutBetween(node, address),
			receiverAt: (address) => this.#receivers.get(address) ?? null,
			onHeld: (pipe) => this.#held.add(pipe),
		};
	}

	/** From now on a receiver listens at these addresses, on every port. An address without one refuses connections. */
	listen(receiver: Receiver, ...addresses: readonly string[]): void {
		for (const address of addresses) this.#receivers.set(address, receiver);
	}

	/** Stops listening at these addresses; open connections stay. */
	unlisten(...addresses: readonly string[]): void {
		for (const address of addresses) this.#receivers.delete(address);
	}

	/** The network of a node that starts. A node that starts again gets another one. */
	attach(process: Process, clock: NodeClock): NodeNetwork {
		const { time, streams } = this.#options;
		const latencyMs = streams("name servers", process.name).between(1, 30);
		const nameServers = new NodeNameServers(time, process, clock, this.names, latencyMs);
		return new NodeNetwork(this.#wires, process, clock, nameServers);
	}

	/**
	 * Cuts the way between a node and an address (null: any); returns a function that heals it. Packets caught by the cut
	 * arrive once it is healed (`held`), or are lost, and their connections stay silent from then on (`lost`).
	 */
	cut(node: string | null, address: string | null, how: Cut = "held"): () => void {
		const cut = { node, address, how };
		this.#cuts.add(cut);
		return () => {
			if (!this.#cuts.delete(cut)) return;
			for (const pipe of [...this.#held]) if (pipe.heal()) this.#held.delete(pipe);
		};
	}

	#cutBetween(node: string, address: string): Cut | null {
		let found: Cut | null = null;
		for (const cut of this.#cuts) {
			if ((cut.node !== null && cut.node !== node) || (cut.address !== null && cut.address !== address)) continue;
			if (cut.how === "lost") return "lost";
			found = cut.how;
		}
		return found;
	}
}
