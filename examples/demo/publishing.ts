import { setTimeout as delay } from "node:timers/promises";
import type { Api, Published } from "./api.ts";
import type { Store, StoreFact } from "./store.ts";

export interface PublishingOptions {
	readonly api: Api;
	readonly projectId: string;
	readonly store: Store;
	/** Events to make, those of baskets that are still to be abandoned included. */
	readonly limit: number;
	/** Ends the publishing at once; what is being reported is finished first. Baskets that were left are not waited for. */
	readonly stopping: AbortSignal;
	/** Closes the store; baskets that were left are waited for. */
	readonly closed: AbortSignal;
	/**
	 * Told of each event that the service made, with a few words on it. `calledAt` is when it was reported (of a basket:
	 * when its event was made), in `performance.now()`'s time.
	 */
	readonly onPublished: (event: Published, summary: string, calledAt: number) => void;
}

export interface Publishing {
	/** Resolves when the limit is reached or a signal given; rejects with the first error of the API. */
	readonly done: Promise<void>;
	/** Resolves once what is being reported now, if anything, was answered and told. */
	answered(): Promise<void>;
}

const ABANDONED = "basket.abandoned";

/** Reports what happens in the store, one fact at a time, and tells of the baskets that are abandoned meanwhile. */
export function startPublishing(options: PublishingOptions): Publishing {
	const { api, projectId, store, limit, stopping, closed, onPublished } = options;
	const noMoreFacts = AbortSignal.any([closed, stopping]);
	const noMoreBaskets = new AbortController();
	/** What is said of baskets that were left, by their ids. */
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

	/** The polling that a program without webhooks would do. */
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

/** Resolves after `ms`, or as soon as the signal is given. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
	try {
		await delay(ms, undefined, { signal });
	} catch (error) {
		if (!signal.aborted) throw error;
	}
}
