import { setTimeout as delay } from "node:timers/promises";
import type { Api, Published } from "./api.ts";
import type { Store, StoreFact } from "./store.ts";

export interface PublishingOptions {
	readonly api: Api;
	readonly projectId: string;
	readonly store: Store;
	/** How many events to publish, including those of baskets that are yet to be abandoned. */
	readonly limit: number;
	/** Stops publishing after the current report, without waiting for baskets to be abandoned. */
	readonly stopping: AbortSignal;
	/** Closes the store, but waits for baskets to be abandoned. */
	readonly closed: AbortSignal;
	/**
	 * Called for each published event with a short summary. `calledAt` is when the fact was reported (for a basket, when its
	 * event was created), on `performance.now()`'s clock.
	 */
	readonly onPublished: (event: Published, summary: string, calledAt: number) => void;
}

export interface Publishing {
	/** Resolves when the limit is reached or a signal aborts; rejects with the first API error. */
	readonly done: Promise<void>;
	/** Resolves once the current report, if any, has its response and `onPublished` was called. */
	answered(): Promise<void>;
}

const ABANDONED = "basket.abandoned";

/** Reports store facts one at a time, and polls for abandoned baskets in the meantime. */
export function startPublishing(options: PublishingOptions): Publishing {
	const { api, projectId, store, limit, stopping, closed, onPublished } = options;
	const noMoreFacts = AbortSignal.any([closed, stopping]);
	const noMoreBaskets = new AbortController();
	/** Summaries of baskets that will be abandoned, by basket id. */
	const left = new Map<string, string>();
	let allReported = false;
	let current: Promise<void> = Promise.resolve();

	const done = Promise.all([reportAll(), followBaskets()]).then(() => {});
	return { done, answered: () => current };

	async function reportAll(): Promise<void> {
		for (let made = 0; made < limit && !noMoreFacts.aborted; ) {
			if (made > 0) await pause(store.pause(), noMoreFacts);
			if (noMoreFacts.aborted) break;
			const fact = store.next(limit - made);
			made += fact.summaries.size;
			current = report(fact);
			await current;
		}
		allReported = true;
		endIfNoneIsLeft();
	}

	async function report({ reports, summaries, leftBasket }: StoreFact): Promise<void> {
		if (leftBasket !== undefined) left.set(leftBasket, summaries.get(ABANDONED) ?? "");
		for (const each of reports) {
			const calledAt = performance.now();
			for (const event of await api.report(projectId, each))
				onPublished(event, summaries.get(event.type) ?? "", calledAt);
		}
	}

	/** Polls as a program without webhooks would. */
	async function followBaskets(): Promise<void> {
		const signal = AbortSignal.any([noMoreBaskets.signal, stopping]);
		let after = 0;
		while (!signal.aborted) {
			const event = await api.nextEvent(projectId, ABANDONED, after, signal);
			if (event === null) continue;
			after = event.seq;
			const basket = String(event.data.basket_id);
			const summary = left.get(basket);
			if (summary === undefined) continue;
			left.delete(basket);
			onPublished(event, summary, performance.now() - (Date.now() - Date.parse(event.created_at)));
			endIfNoneIsLeft();
		}
	}

	function endIfNoneIsLeft(): void {
		if (allReported && left.size === 0) noMoreBaskets.abort();
	}
}

/** Resolves after `ms`, or as soon as the signal aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
	try {
		await delay(ms, undefined, { signal });
	} catch (error) {
		if (!signal.aborted) throw error;
	}
}
