import type { Behaviour } from "./behaviour.ts";
import type { Line } from "./line.ts";
import type { Receiver } from "./receiver.ts";
import type { SeenRequest } from "./types.ts";
import type { Wires } from "./wires.ts";

/** A receiver's end of a connection. It serves one request after another. */
export class ReceiverConnection {
	readonly #wires: Wires;
	readonly #receiver: Receiver;
	readonly #line: Line;
	readonly #waiting: SeenRequest[] = [];
	#served = 0;
	#busy = false;
	#open = true;
	#idleSince: number;

	constructor(wires: Wires, receiver: Receiver, line: Line) {
		this.#wires = wires;
		this.#receiver = receiver;
		this.#line = line;
		this.#idleSince = wires.time.now();
		receiver.opened(this);
		this.#watchIdle();
	}

	get isIdle(): boolean {
		return !this.#busy;
	}

	/** The last byte of a request came. */
	receive(request: SeenRequest): void {
		if (!this.#open) {
			this.#line.send({ kind: "failed", code: "ECONNRESET" });
			return;
		}
		if (this.#busy) this.#waiting.push(request);
		else this.#serve(request);
	}

	/** The node closed its end. */
	left(): void {
		if (!this.#open) return;
		this.#open = false;
		this.#receiver.closed(this);
	}

	close(how: "end" | "reset"): void {
		if (!this.#open) return;
		this.#line.send(how === "end" ? { kind: "end" } : { kind: "failed", code: "ECONNRESET" });
		this.left();
	}

	#serve(request: SeenRequest): void {
		const receiver = this.#receiver;
		this.#busy = true;
		receiver.requests += 1;
		request.receivedAt = this.#wires.time.now();
		this.#wires.observer.received?.(request);
		const key = receiver.keyOf(request);
		const nth = receiver.countOf(key);
		const behaviour = receiver.behave(request, this.#wires.streams("request", receiver.name, key, nth), nth);
		request.behaviour = behaviour.text;
		this.#after(behaviour.delayMs, () => this.#write(request, behaviour, 0));
	}

	#write(request: SeenRequest, behaviour: Behaviour, from: number): void {
		const { bytes, status, pieces } = behaviour;
		const to = Math.min(bytes.length, from + (pieces?.bytes ?? bytes.length));
		if (to > from) {
			const ends = status !== null && status.end > from && status.end <= to;
			this.#line.send({
				kind: "bytes",
				bytes: from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to),
				status: ends ? { request, code: status.code, end: status.end - from } : null,
			});
		}
		if (to < bytes.length) this.#after(pieces?.everyMs ?? 0, () => this.#write(request, behaviour, to));
		else this.#end(behaviour);
	}

	#end({ afterwards }: Behaviour): void {
		this.#served += 1;
		if (afterwards === "end" || afterwards === "reset") this.close(afterwards);
		else if (afterwards === "next" && this.#served >= this.#receiver.keepAlive.requests) this.close("end");
		else if (afterwards === "next") {
			this.#busy = false;
			this.#idleSince = this.#wires.time.now();
			const next = this.#waiting.shift();
			if (next !== undefined) this.#serve(next);
		}
	}

	#after(ms: number, run: () => void): void {
		if (ms <= 0) run();
		else
			this.#wires.time.at(this.#wires.time.now() + ms, () => {
				if (this.#open) run();
			});
	}

	/** One timer for as long as it is open, not one for each silence. */
	#watchIdle(): void {
		const { idleMs } = this.#receiver.keepAlive;
		if (idleMs === Number.POSITIVE_INFINITY) return;
		const { time } = this.#wires;
		const since = this.#busy ? time.now() : this.#idleSince;
		time.at(since + idleMs, () => {
			if (!this.#open) return;
			if (!this.#busy && time.now() - this.#idleSince >= idleMs) this.close("end");
			else this.#watchIdle();
		});
	}
}
