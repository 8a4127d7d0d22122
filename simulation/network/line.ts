import type { ConnectOptions } from "../../packages/server/src/net/socket.ts";
import type { NodeNetwork } from "./node.ts";
import { Pipe } from "./pipe.ts";
import type { Acceptance } from "./receiver.ts";
import { ReceiverConnection } from "./receiver-connection.ts";
import { RequestReader } from "./request-reader.ts";
import { type Arrival, NodeSocket, type Status } from "./socket.ts";
import type { Draw, NodeClock, SeenRequest } from "./types.ts";
import type { Wires } from "./wires.ts";

/**
 * A connection from a node to an address, both of its ends, and what is on its way between them.
 *
 *     node ── SYN ──▶ accepted ──▶ node ── hello ──▶ secured ──▶ node ── requests ──▶ receiver
 *                  └▶ refused                    └▶ failed            ◀── answers ──
 */
export class Line {
	readonly no: number;
	readonly address: string;
	readonly node: NodeNetwork;
	readonly socket: NodeSocket;
	readonly #wires: Wires;
	readonly #draw: Draw;
	readonly #up: Pipe;
	readonly #down: Pipe;
	readonly #reader = new RequestReader();
	#acceptance: Acceptance = { kind: "refuse" };
	#receiver: ReceiverConnection | null = null;
	#requests = 0;
	#isClosed = false;

	constructor(wires: Wires, node: NodeNetwork, options: ConnectOptions, draw: Draw) {
		this.no = wires.nextConnection();
		this.address = options.host!;
		this.node = node;
		this.#wires = wires;
		this.#draw = draw;
		const latencyMs = wires.latencyOf(node.name, this.address, draw);
		const cut = () => wires.cutBetween(node.name, this.address);
		this.#up = new Pipe(wires.time, latencyMs, cut, wires.onHeld);
		this.#down = new Pipe(wires.time, latencyMs, cut, wires.onHeld);
		this.socket = new NodeSocket(this, options);
	}

	get clock(): NodeClock {
		return this.node.clock;
	}

	/** Begins to connect. */
	open(): void {
		this.#up.send(() => this.#asked());
	}

	// ── the node's end ──

	/** @returns the request that these bytes complete */
	write(bytes: Buffer): SeenRequest | null {
		const { time, observer } = this.#wires;
		let completed: SeenRequest | null = null;
		try {
			for (const { method, path, headers, body } of this.#reader.push(bytes)) {
				const request: SeenRequest = {
					no: this.#wires.nextRequest(),
					node: this.node.name,
					connection: this.no,
					reused: this.#requests++ > 0,
					address: this.address,
					url: `https://${headers.get("host")}${path}`,
					method,
					path,
					headers,
					body,
					sentAt: time.now(),
					receivedAt: null,
					behaviour: "",
					status: null,
					respondedAt: null,
				};
				this.#wires.requests?.push(request);
				observer.sent?.(request);
				this.#up.send(() => this.#receiver?.receive(request));
				completed = request;
			}
		} catch (error) {
			this.#wires.faults.push(`${this.node.name} wrote no HTTP to ${this.address}: ${(error as Error).message}`);
		}
		return completed;
	}

	responded({ request, code }: Status): void {
		request.status = code;
		request.respondedAt = this.#wires.time.now();
		this.#wires.observer.responded?.(request, code);
	}

	broken(request: SeenRequest, why: string): void {
		this.#wires.observer.broken?.(request, why);
	}

	/** The node's end was closed. */
	closed(): void {
		this.node.forget(this);
		this.#up.send(() => {
			this.#isClosed = true;
			this.#receiver?.left();
		});
	}

	// ── the receiver's end ──

	/** Sends something to the node. */
	send(arrival: Arrival): void {
		this.#down.send(() => this.node.process.run(() => this.#arrive(arrival)));
	}

	#arrive(arrival: Arrival): void {
		this.socket.arrive(arrival);
		if (arrival.kind === "accepted") this.#up.send(() => this.#greeted());
	}

	#asked(): void {
		this.#acceptance = this.#wires.receiverAt(this.address)?.accept(this.address, this.#draw) ?? { kind: "refuse" };
		const acceptance = this.#acceptance;
		switch (acceptance.kind) {
			case "refuse":
				this.send({ kind: "failed", code: "ECONNREFUSED" });
				break;
			case "unreachable":
				this.send({ kind: "failed", code: acceptance.code ?? "EHOSTUNREACH" });
				break;
			case "silent":
				break;
			default:
				this.#after(acceptance.acceptMs, () => this.send({ kind: "accepted" }));
		}
	}

	/** The first bytes of the TLS handshake came. */
	#greeted(): void {
		const acceptance = this.#acceptance;
		if (this.#isClosed) return;
		switch (acceptance.kind) {
			case "reset":
				this.send({ kind: "failed", code: "ECONNRESET" });
				break;
			case "close":
				this.send({ kind: "end" });
				break;
			case "tls":
				this.send({ kind: "failed", code: acceptance.code });
				break;
			case "accept":
				this.#after(acceptance.handshakeMs, () => this.#secure(acceptance));
				break;
		}
	}

	#secure({ sessions = 1 }: Extract<Acceptance, { kind: "accept" }>): void {
		const receiver = this.#wires.receiverAt(this.address);
		if (this.#isClosed) return;
		if (receiver === null) {
			this.send({ kind: "failed", code: "ECONNRESET" });
			return;
		}
		this.#receiver = new ReceiverConnection(this.#wires, receiver, this);
		this.send({ kind: "secured", names: receiver.certificateNames, sessions });
	}

	#after(ms: number | undefined, run: () => void): void {
		if (ms === undefined || ms === 0) run();
		else this.#wires.time.at(this.#wires.time.now() + ms, run);
	}
}
