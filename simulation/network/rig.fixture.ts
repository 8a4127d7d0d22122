import { secretDigest, signingKey } from "@posthorn/protocol";
import type { Clock, Timer } from "../../packages/server/src/base/clock.ts";
import type { HttpSenderOptions } from "../../packages/server/src/engine/send/http-sender.ts";
import type { Sent, Shipment } from "../../packages/server/src/engine/send/outcome.ts";
import { createGuard } from "../../packages/server/src/net/egress.ts";
import {
	createNodeSender,
	type Draw,
	Network,
	type NetworkObserver,
	type Process,
	Receiver,
	type Time,
} from "./index.ts";

/** The time of day when a world begins. */
export const START_MS = Date.UTC(2026, 0, 1);
export const ADDRESS = "93.184.216.7";
export const URL_ = "https://shop.example/hook";
export const TIMEOUT_MS = 15_000;

interface Due {
	readonly at: number;
	readonly run: () => void;
	isCancelled: boolean;
}

/** A short list of what is to come, in order. Slow for long ones. */
class TestTime implements Time {
	#now = 0;
	readonly #due: Due[] = [];

	now(): number {
		return this.#now;
	}

	at(ms: number, run: () => void): Timer {
		const due = { at: Math.max(ms, this.#now), run, isCancelled: false };
		let index = this.#due.length;
		while (index > 0 && this.#due[index - 1]!.at > due.at) index--;
		this.#due.splice(index, 0, due);
		return {
			cancel: () => {
				due.isCancelled = true;
			},
		};
	}

	/** Lets things happen, and after each of them all that promises wait for, until the promise is settled. */
	async until<T>(promise: Promise<T>): Promise<T> {
		let isOver = false;
		const over = (): void => {
			isOver = true;
		};
		promise.then(over, over);
		for (;;) {
			await turn();
			if (isOver) return promise;
			if (!this.#next()) throw new Error("Nothing is left to happen.");
		}
	}

	/** Lets everything happen up to this time. */
	async runTo(ms: number): Promise<void> {
		await turn();
		while (this.#next(ms)) await turn();
		this.#now = Math.max(this.#now, ms);
	}

	#next(until = Number.POSITIVE_INFINITY): boolean {
		while (this.#due[0]?.isCancelled) this.#due.shift();
		if (this.#due.length === 0 || this.#due[0]!.at > until) return false;
		const { at, run } = this.#due.shift()!;
		this.#now = at;
		run();
		return true;
	}
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A process that can stand still and die. */
class TestProcess implements Process {
	readonly name: string;
	state: "running" | "frozen" | "dead" = "running";
	readonly #waiting: (() => void)[] = [];

	constructor(name: string) {
		this.name = name;
	}

	run(fn: () => void): void {
		if (this.state === "running") fn();
		else if (this.state === "frozen") this.#waiting.push(fn);
	}

	thaw(): void {
		this.state = "running";
		for (const fn of this.#waiting.splice(0)) fn();
	}
}

/** Streams of numbers from a seed (mulberry32 on a hash of the name). */
export function streams(seed: number) {
	return (...names: readonly (string | number)[]): Draw => {
		let state = seed;
		for (const character of names.join("/")) state = Math.imul(state ^ character.charCodeAt(0), 0x01000193);
		const float = (): number => {
			state = (state + 0x6d2b79f5) | 0;
			let mixed = Math.imul(state ^ (state >>> 15), state | 1);
			mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
			return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
		};
		return {
			float,
			between: (min, max) => min + Math.floor(float() * (max - min + 1)),
			chance: (probability) => float() < probability,
		};
	};
}

type Sender = ReturnType<typeof createNodeSender>;

/** A network with one receiver, `shop.example`, that answers 200, and nodes as a test starts them. */
export class NetworkRig {
	readonly time = new TestTime();
	readonly network: Network;
	readonly receiver = new Receiver("shop.example");
	/** The arguments of the senders' `onFault` calls. */
	readonly faults: unknown[] = [];

	constructor({ seed = 1, observer = {} as NetworkObserver, latencyMs = 10 as number | null } = {}) {
		this.network = new Network({
			time: this.time,
			streams: streams(seed),
			observer,
			...(latencyMs !== null && { latency: () => latencyMs }),
		});
		this.network.names.set("shop.example", [ADDRESS]);
		this.network.listen(this.receiver, ADDRESS);
	}

	node(name = "node 1", options: Partial<HttpSenderOptions> = {}) {
		const { time } = this;
		const process = new TestProcess(name);
		const clock: Clock = {
			now: () => START_MS + time.now(),
			elapsed: () => time.now(),
			setTimeout: (fn, ms) => time.at(time.now() + Math.max(1, Math.ceil(ms)), () => process.run(fn)),
			setImmediate: (fn) => void time.at(time.now(), () => process.run(fn)),
		};
		const network = this.network.attach(process, clock);
		const sender = createNodeSender(network, {
			clock,
			random: () => 0,
			guard: createGuard({ allow: [], interfaces: network.interfaces, clock }),
			brand: "Posthorn",
			timeoutMs: TIMEOUT_MS,
			onFault: (error) => this.faults.push(error),
			...options,
		});
		return { process, clock, network, sender };
	}

	/** Sends one event, and advances time until the attempt ends. */
	send(sender: Sender, url = URL_, body?: string): Promise<Sent> {
		return this.time.until(sender.send(shipment(url, body)));
	}
}

const KEY = signingKey(secretDigest(`whsec_${"s".repeat(64)}`));

export function shipment(url = URL_, body = '{"id":"evt_1"}'): Shipment {
	return {
		eventId: "evt_01jd0000000000000000000000",
		eventType: "purchase.completed",
		body: Buffer.from(body),
		target: { projectId: "proj_1", url, key: KEY, active: true },
		mayLeave: () => true,
	};
}

/** The body of an answer, or why there was none. */
export function text(outcome: Sent): string {
	if (outcome.kind === "cancelled") return "cancelled";
	if (outcome.kind === "deferred") return outcome.shortage;
	return outcome.kind === "answered" ? `${outcome.status} ${Buffer.from(outcome.body)}` : outcome.reason;
}
