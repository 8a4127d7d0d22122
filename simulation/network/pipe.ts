import type { Time } from "./types.ts";

/** What a cut does with what is on its way: it arrives once the cut is healed, or never. */
export type Cut = "held" | "lost";

/** One direction of a connection: everything arrives in order, each after the same time. */
export class Pipe {
	readonly #time: Time;
	readonly #latencyMs: number;
	readonly #cut: () => Cut | null;
	readonly #onHeld: (pipe: Pipe) => void;
	/** Data held at a cut; later data queues after it. */
	#held: (() => void)[] = [];
	/** Something was lost: nothing after it is ever delivered. */
	#isDead = false;

	/**
	 * @param cut whether the way is cut at the moment, and how
	 * @param onHeld called once something is held: call `heal` when the cut ends
	 */
	constructor(time: Time, latencyMs: number, cut: () => Cut | null, onHeld: (pipe: Pipe) => void) {
		this.#time = time;
		this.#latencyMs = latencyMs;
		this.#cut = cut;
		this.#onHeld = onHeld;
	}

	send(arrive: () => void): void {
		this.#time.at(this.#time.now() + this.#latencyMs, () => this.#arrive(arrive));
	}

	/** Whether the way is free. If so, what was held arrives as late as if it had been sent now. */
	heal(): boolean {
		if (this.#cut() !== null) return false;
		this.#time.at(this.#time.now() + this.#latencyMs, () => {
			if (this.#cut() !== null) {
				this.#onHeld(this);
				return;
			}
			const held = this.#held;
			this.#held = [];
			for (const arrive of held) arrive();
		});
		return true;
	}

	#arrive(arrive: () => void): void {
		if (this.#isDead) return;
		const cut = this.#cut();
		if (cut === "lost") {
			this.#isDead = true;
			this.#held = [];
		} else if (cut === "held" || this.#held.length > 0) {
			if (this.#held.push(arrive) === 1) this.#onHeld(this);
		} else arrive();
	}
}
