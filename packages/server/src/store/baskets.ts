import { type Clock, LONGEST_WAIT_MS, type Timer } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { Engine } from "../engine/engine.ts";
import { type DueBasket, StorageError } from "../storage/port.ts";
import { type Items, merged } from "./orders.ts";
import { idFaults, itemFaults, payloadFaults, textFaults } from "./payload.ts";
import type { FactRecorder, FactRefused } from "./recorder.ts";

export interface BasketInput {
	readonly items: Items;
	readonly customer_email?: string;
}

export type TouchResult =
	/** `dueAt`: when it is abandoned unless it is touched before; null when it is empty. */
	| { readonly kind: "touched"; readonly at: number; readonly dueAt: number | null }
	/** An order has ended this basket for good. */
	| { readonly kind: "bought" }
	| Exclude<FactRefused, { kind: "conflict" }>;

/** It is gone afterwards, whether it was there or not; or nothing was done. */
export type RemoveResult =
	| { readonly kind: "removed" | "absent" }
	| Extract<FactRefused, { kind: "busy" | "no_project" }>;

export interface BasketsOptions {
	/** How long a basket sits untouched before it is abandoned, milliseconds. */
	readonly idleMs: number;
	/** A basket may be due at this time. */
	readonly onTouched: (dueAt: number) => void;
}

/** Baskets: every report is a touch that starts the clock anew. An empty basket is never abandoned. */
export class Baskets {
	readonly #recorder: FactRecorder;
	readonly #options: BasketsOptions;

	constructor(recorder: FactRecorder, options: BasketsOptions) {
		this.#recorder = recorder;
		this.#options = options;
	}

	async touch(projectId: string, basketId: string, input: BasketInput): Promise<TouchResult> {
		const { items } = input;
		const customer_email = input.customer_email?.trim();
		const payload = { basket_id: basketId, customer_email, items };
		const faults = [
			...idFaults("/basket_id", basketId),
			...textFaults("/customer_email", customer_email),
			...itemFaults(items),
		];
		const all = items.length === 0 ? faults : merged(faults, payloadFaults("basket.abandoned", payload));
		if (all.length > 0) return { kind: "invalid", faults: all };
		const data = JSON.stringify(payload);
		const tooLarge = this.#recorder.sizeFault(data);
		if (tooLarge !== null) return tooLarge;
		if (items.length === 0) {
			const removed = await this.remove(projectId, basketId);
			if (removed.kind === "no_project" || removed.kind === "busy") return removed;
			return { kind: "touched", at: this.#recorder.now(), dueAt: null };
		}
		return this.#recorder.admit(projectId, Buffer.byteLength(data), async () => {
			const at = this.#recorder.now();
			const dueAt = at + this.#options.idleMs;
			// Before it is stored: should storage fail, it may be stored all the same.
			this.#options.onTouched(dueAt);
			const kind = await this.#recorder.storage.touchBasket({ projectId, touch: { basketId, at, dueAt, data } });
			return kind === "touched" ? { kind, at, dueAt } : { kind };
		});
	}

	remove(projectId: string, basketId: string): Promise<RemoveResult> {
		return this.#recorder.admit(projectId, 0, async () => ({
			kind: await this.#recorder.storage.removeBasket({ projectId, basketId }),
		}));
	}
}

/** Baskets that are taken and abandoned at a time: those of one project share a commit, and memory is bounded. */
const BATCH = 64;
/**
 * When it is tried again, milliseconds: to abandon a basket after it was taken, if nobody has; to take any after storage
 * failed. Many times longer than a batch takes.
 */
const TRY_AGAIN_MS = 5_000;

export interface BasketTimerOptions {
	readonly recorder: FactRecorder;
	readonly engine: Pick<Engine, "appended" | "recheck">;
	readonly clock: Clock;
	readonly logger: Logger;
}

/**
 * Abandons baskets when their time has come, and, after a downtime, those whose time has passed. It sleeps until the next
 * is due by storage's index, so a million that wait cost nothing.
 *
 * Several nodes may do so at once: baskets are taken before they are abandoned, so that each node works on others; a
 * basket is abandoned only if nobody has touched or abandoned it meanwhile. One that was taken and not abandoned (the
 * node died, or storage refuses its event) comes due again later, and is never in the way of others.
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

	/** A basket may be due at this time: wakes then, if nothing else does before. */
	due(at: number): void {
		if (at < this.#wakeAt) this.#sleepUntil(at);
	}

	/** Starts nothing more and waits for what is under way. */
	async stop(): Promise<void> {
		this.#stopped = true;
		this.#timer?.cancel();
		await this.#pass;
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
			if (!this.#stopped) logger.error({ err: error, retryInMs: TRY_AGAIN_MS }, "failed to read abandoned baskets");
			return clock.now() + TRY_AGAIN_MS;
		}
	}

	async #abandonDue(): Promise<void> {
		const { recorder } = this.#options;
		/** Projects whose rows somebody else holds: their baskets come due again, and meanwhile others have their turn. */
		const locked = new Set<string>();
		for (;;) {
			const now = recorder.now();
			const baskets = await recorder.storage.takeDueBaskets({ now, until: now + TRY_AGAIN_MS, limit: BATCH });
			const byProject = Map.groupBy(baskets, ({ projectId }) => projectId);
			const ends = await Promise.allSettled(
				[...byProject].map(async ([id, some]) => {
					if (!locked.has(id) && (await this.#abandon(id, some)) === "locked") locked.add(id);
				}),
			);
			const failed = ends.find((end) => end.status === "rejected");
			if (failed) throw failed.reason;
			if (baskets.length < BATCH || this.#stopped) return;
		}
	}

	/** Of one project, together; one by one where one of them does not let the others through. */
	async #abandon(projectId: string, baskets: readonly DueBasket[]): Promise<"done" | "locked"> {
		const { recorder, engine, logger } = this.#options;
		const at = recorder.now();
		const abandoned = baskets
			.toSorted((a, b) => a.touchedAt - b.touchedAt)
			.map(({ basketId, touchedAt, data }) => {
				return { basketId, touchedAt, event: recorder.candidate(projectId, "basket.abandoned", at, data) };
			});
		try {
			const appended = await recorder.storage.abandonBaskets({ projectId, baskets: abandoned, at });
			if (appended.length > 0) engine.appended(projectId, appended);
			return "done";
		} catch (error) {
			if (error instanceof StorageError && (error.code === "locked" || error.code === "busy")) return "locked";
			if (error instanceof StorageError) {
				engine.recheck(projectId);
				throw error;
			}
			if (baskets.length > 1) {
				for (const basket of baskets) if ((await this.#abandon(projectId, [basket])) === "locked") return "locked";
				return "done";
			}
			const { basketId } = baskets[0]!;
			const about = { err: error, projectId, basketId, retryInMs: TRY_AGAIN_MS };
			logger.error(about, "failed to abandon a basket; other baskets continue");
			return "done";
		}
	}
}
