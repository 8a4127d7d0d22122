import { type Clock, LONGEST_WAIT_MS, type Timer } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { Engine } from "../engine/engine.ts";
import type { DueBasket } from "../storage/port.ts";
import type { FactRecorder } from "./recorder.ts";

/** Baskets that are read and abandoned at a time: their commits are shared, their memory bounded. */
const BATCH = 64;
/** After storage failed, milliseconds. */
const TRY_AGAIN_MS = 5_000;

export interface BasketTimerOptions {
	readonly recorder: FactRecorder;
	readonly engine: Pick<Engine, "appended">;
	readonly clock: Clock;
	readonly logger: Logger;
}

/**
 * Abandons baskets when their time has come, and, after a downtime, those whose time has passed. It sleeps until the next
 * is due by storage's index, so a million that wait cost nothing. Several nodes may do so at once: storage abandons each
 * basket for one of them, and only if it was not touched meanwhile.
 */
export class BasketTimer {
	readonly #options: BasketTimerOptions;
	#timer: Timer | null = null;
	#wakeAt = Number.POSITIVE_INFINITY;
	#pass: Promise<void> | null = null;
	#stopped = false;

	constructor(options: BasketTimerOptions) {
		this.#options = options;
	}

	start(): void {
		this.#sleepUntil(this.#options.clock.now());
	}

	/** A basket is due at this time: wakes then, if nothing else does before. */
	due(at: number): void {
		if (at < this.#wakeAt) this.#sleepUntil(at);
	}

	async #abandonDue(): Promise<void> {
		const { recorder } = this.#options;
		for (;;) {
			const baskets = await recorder.storage.dueBaskets(recorder.now(), BATCH);
			await Promise.all(baskets.map((basket) => this.#abandon(basket)));
			if (baskets.length < BATCH || this.#stopped) return;
		}
	}

	/** Starts nothing more and waits for what is under way. */
	async stop(): Promise<void> {
		this.#stopped = true;
		this.#timer?.cancel();
		await this.#pass;
	}

	async #abandon(basket: DueBasket): Promise<void> {
		const { recorder, engine } = this.#options;
		const at = recorder.now();
		const event = recorder.candidate(basket.projectId, "basket.abandoned", at, basket.data);
		const result = await recorder.storage.abandonBasket(basket, at, event);
		if (result.kind === "abandoned") engine.appended(basket.projectId, result.appended);
	}

	#sleepUntil(at: number): void {
		if (this.#stopped) return;
		const { clock } = this.#options;
		this.#timer?.cancel();
		this.#wakeAt = at;
		// A clock may be set, and other nodes take touches, too: look again at least so often.
		const wait = Math.min(at - clock.now(), LONGEST_WAIT_MS);
		this.#timer = clock.setTimeout(() => this.#wake(), wait);
	}

	#wake(): void {
		this.#timer = null;
		if (this.#pass !== null || this.#stopped) return;
		// What is touched while it looks wakes it anew.
		this.#wakeAt = Number.POSITIVE_INFINITY;
		this.#pass = this.#look().then((next) => {
			// In this order: nothing may wake it while it counts as awake, or it would sleep on.
			this.#pass = null;
			this.#sleepUntil(Math.min(next, this.#wakeAt));
		});
	}

	/** Abandons what is due; answers when to look again. */
	async #look(): Promise<number> {
		const { recorder, logger, clock } = this.#options;
		try {
			await this.#abandonDue();
			return (await recorder.storage.nextBasketDue()) ?? Number.POSITIVE_INFINITY;
		} catch (error) {
			if (!this.#stopped) logger.error({ err: error }, "abandoned baskets could not be looked for; trying again");
			return clock.now() + TRY_AGAIN_MS;
		}
	}
}
