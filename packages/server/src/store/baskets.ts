import { BASKETS } from "../base/budgets.ts";
import { type Clock, LONGEST_WAIT_MS, type Timer } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { Engine } from "../engine/engine.ts";
import { MAX_FAILED, rotated } from "../engine/halves.ts";
import { type DueBasket, isGeneral, StorageError } from "../storage/port.ts";
import type { Items } from "./orders.ts";
import { type FactRecorder, type FactRefused, idFaults, itemFaults, textFaults } from "./recorder.ts";

export interface BasketInput {
	readonly items: Items;
	readonly customer_email?: string;
}

type TouchResult =
	/** `dueAt`: when it will be abandoned unless touched before; null if it is empty. */
	| { readonly kind: "touched"; readonly at: number; readonly dueAt: number | null }
	/** An order has ended this basket permanently. */
	| { readonly kind: "bought" }
	| Exclude<FactRefused, { kind: "conflict" }>;

/** The basket no longer exists, whether or not it did before; or nothing was done. */
export type RemoveResult =
	| { readonly kind: "removed" }
	| { readonly kind: "absent" }
	| Extract<FactRefused, { kind: "invalid" | "busy" | "no_project" }>;

interface BasketsOptions {
	/** How long a basket goes untouched before it is abandoned, milliseconds. */
	readonly idleMs: number;
	/** Called when a basket may be due at this time. */
	readonly onTouched: (dueAt: number) => void;
}

/** Baskets: every report is a touch that restarts the timer. An empty basket is never abandoned. */
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
		if (items.length === 0) {
			if (faults.length > 0) return { kind: "invalid", faults };
			const removed = await this.remove(projectId, basketId);
			if (removed.kind !== "removed" && removed.kind !== "absent") return removed;
			return { kind: "touched", at: this.#recorder.now(), dueAt: null };
		}
		const data = this.#recorder.dataOf("basket.abandoned", payload, faults);
		if (typeof data !== "string") return data;
		return this.#recorder.admit(projectId, Buffer.byteLength(data), async () => {
			const at = this.#recorder.now();
			const dueAt = at + this.#options.idleMs;
			// Before it is stored: if storage fails, the touch may be stored nonetheless.
			this.#options.onTouched(dueAt);
			const kind = await this.#recorder.storage.touchBasket({ projectId, touch: { basketId, at, dueAt, data } });
			return kind === "touched" ? { kind, at, dueAt } : { kind };
		});
	}

	async remove(projectId: string, basketId: string): Promise<RemoveResult> {
		const faults = idFaults("/basket_id", basketId);
		if (faults.length > 0) return { kind: "invalid", faults };
		return this.#recorder.admit(projectId, 0, async () => ({
			kind: await this.#recorder.storage.removeBasket({ projectId, basketId }),
		}));
	}
}

/** Baskets claimed and abandoned at a time: those of one project share a commit, and memory stays bounded. */
const BATCH = 64;
/**
 * When to retry, milliseconds: abandoning a basket that was claimed, if no node has; or claiming any after a storage
 * failure. Much longer than a batch takes.
 */
const TRY_AGAIN_MS = 5_000;

export interface BasketTimerOptions {
	readonly recorder: FactRecorder;
	readonly engine: Pick<Engine, "appended" | "recheck">;
	readonly clock: Clock;
	readonly logger: Logger;
	/** Whether the clock is trusted: otherwise nothing is abandoned. By default, it is. */
	readonly isTrusted?: (() => boolean) | undefined;
}

/**
 * Abandons baskets when they are due, including those that became due during downtime. It sleeps until the next due
 * time in storage's index, so a million waiting baskets cost nothing.
 *
 * Several nodes may run this concurrently: baskets are claimed before they are abandoned, so each node works on
 * different ones, and a basket is abandoned only if it wasn't touched or abandoned meanwhile. One that was claimed but
 * not abandoned (the node died, or storage refuses its event) becomes due again later, after those that were due before.
 * Each search for events that storage accepts begins with other baskets, so refused ones don't block others for long.
 * Projects whose baskets were refused get their turn last, so they don't delay others.
 */
export class BasketTimer {
	readonly #options: BasketTimerOptions;
	#timer: Timer | null = null;
	#wakeAt = Number.POSITIVE_INFINITY;
	#pass: Promise<void> | null = null;
	#stopped = false;
	/** How often it has looked for baskets whose events storage accepts. */
	#searches = 0;
	/** Projects of whose baskets storage refused some when it last tried them. */
	readonly #refused = new Set<string>();

	constructor(options: BasketTimerOptions) {
		this.#options = options;
	}

	start(): void {
		this.#sleepUntil(this.#options.clock.now());
	}

	/** A basket may be due at this time: wakes then, or earlier. */
	due(at: number): void {
		if (at < this.#wakeAt) this.#sleepUntil(at);
	}

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
		// A clock may be set, and other nodes record touches too: check again at least this often.
		const wait = Math.min(at - clock.now(), LONGEST_WAIT_MS);
		this.#timer = clock.setTimeout(() => this.#wake(), wait);
	}

	#wake(): void {
		this.#timer = null;
		if (this.#pass !== null || this.#stopped) return;
		// A touch during the lookup wakes it again.
		this.#wakeAt = Number.POSITIVE_INFINITY;
		this.#pass = this.#look().then((next) => {
			// In this order: a wake-up while it still counts as awake would be lost.
			this.#pass = null;
			this.#sleepUntil(Math.min(next, this.#wakeAt));
		});
	}

	/** Abandons due baskets; returns when to check again. */
	async #look(): Promise<number> {
		const { recorder, logger, clock, isTrusted } = this.#options;
		if (isTrusted?.() === false) return clock.now() + TRY_AGAIN_MS;
		const pass: Pass = { locked: new Set(), failed: 0, abandoned: 0, refused: 0, refusal: null };
		try {
			let isComplete = await this.#abandonDue(pass, this.#refused);
			if (isComplete && this.#refused.size > 0 && !this.#stopped) isComplete = await this.#abandonDue(pass);
			if (!isComplete) return clock.now() + TRY_AGAIN_MS;
			return (await recorder.storage.nextBasketDue()) ?? Number.POSITIVE_INFINITY;
		} catch (error) {
			if (!this.#stopped) logger.error({ err: error, retryInMs: TRY_AGAIN_MS }, "failed to read abandoned baskets");
			return clock.now() + TRY_AGAIN_MS;
		} finally {
			if (pass.refusal !== null) {
				const about = { ...pass.refusal, waiting: pass.refused, retryInMs: TRY_AGAIN_MS };
				logger.error(about, "failed to abandon baskets; others continue");
			}
		}
	}

	/**
	 * Returns false if it stopped early, because storage refuses all that it tried.
	 *
	 * @param except projects whose baskets are left out; may grow meanwhile
	 */
	async #abandonDue(pass: Pass, except: ReadonlySet<string> = new Set()): Promise<boolean> {
		const { recorder } = this.#options;
		while (pass.failed < MAX_FAILED) {
			const now = recorder.now();
			const { abandoned, refused } = pass;
			const due = { now, until: now + TRY_AGAIN_MS, limit: BATCH, except: [...except] };
			const baskets = await recorder.storage.takeDueBaskets(due);
			const byProject = Map.groupBy(baskets, ({ projectId }) => projectId);
			const ends = await Promise.allSettled([...byProject].map(([id, some]) => this.#abandon(id, some, pass)));
			const rejected = ends.find((end) => end.status === "rejected");
			if (rejected) throw rejected.reason;
			if (baskets.length < BATCH || this.#stopped) return true;
			if (pass.abandoned > abandoned) pass.failed = 0;
			else if (pass.refused > refused) pass.failed++;
		}
		return false;
	}

	/** Abandons one project's baskets together; or one by one if that fails, until a few in a row have failed. */
	async #abandon(projectId: string, baskets: readonly DueBasket[], pass: Pass): Promise<"done" | "refused" | "locked"> {
		if (pass.locked.has(projectId)) return "locked";
		const { recorder, engine } = this.#options;
		const at = recorder.now();
		const abandoned = baskets
			.toSorted((a, b) => a.touchedAt - b.touchedAt)
			.map(({ basketId, touchedAt, data }) => {
				return { basketId, touchedAt, event: recorder.candidate(projectId, "basket.abandoned", at, data) };
			});
		try {
			const appended = await recorder.storage.abandonBaskets({ projectId, baskets: abandoned, at });
			if (appended.length > 0) engine.appended(projectId, appended);
			pass.abandoned += baskets.length;
			this.#refused.delete(projectId);
			return "done";
		} catch (error) {
			if (error instanceof StorageError && (error.code === "locked" || error.code === "busy")) {
				pass.locked.add(projectId);
				return "locked";
			}
			// One of them may be the reason, for example if a trigger refuses its event.
			if (isGeneral(error)) {
				engine.recheck(projectId);
				throw error;
			}
			if (baskets.length > 1) return this.#abandonSingly(projectId, baskets, pass);
			pass.refused++;
			if (this.#refused.size < BASKETS.refusedProjects) this.#refused.add(projectId);
			pass.refusal ??= { err: error, projectId, basketId: baskets[0]!.basketId };
			return "refused";
		}
	}

	async #abandonSingly(projectId: string, baskets: readonly DueBasket[], pass: Pass): Promise<"done" | "locked"> {
		let failed = 0;
		for (const [i, basket] of rotated(baskets, this.#searches++).entries()) {
			if (failed === MAX_FAILED) {
				pass.refused += baskets.length - i;
				break;
			}
			const end = await this.#abandon(projectId, [basket], pass);
			if (end === "locked") return "locked";
			failed = end === "refused" ? failed + 1 : 0;
		}
		return "done";
	}
}

/** The results of one pass through the due baskets. */
interface Pass {
	/** Projects whose rows another session holds: their baskets become due again later, and others get their turn. */
	readonly locked: Set<string>;
	/** How many batches in a row storage has refused. */
	failed: number;
	abandoned: number;
	/** Baskets that wait because storage refused their events, or those of a few tried before them. */
	refused: number;
	/** The first refusal, for the log. */
	refusal: { readonly err: unknown; readonly projectId: string; readonly basketId: string } | null;
}
