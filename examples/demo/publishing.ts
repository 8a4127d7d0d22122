import { setTimeout as delay } from "node:timers/promises";
import type { Api, Published } from "./api.ts";
import type { Store, StoreEvent } from "./store.ts";

export interface PublishingOptions {
	readonly api: Api;
	readonly projectId: string;
	readonly store: Store;
	readonly limit: number;
	/** Ends the publishing; an event that is being published is finished first. */
	readonly signal: AbortSignal;
	/** Told of each event once the service has answered. `calledAt` is when it was called, in `performance.now()`'s time. */
	readonly onPublished: (event: Published, what: StoreEvent, calledAt: number) => void;
}

export interface Publishing {
	/** Resolves when the limit is reached or the signal given; rejects with the first error of the API. */
	readonly done: Promise<void>;
	/** Resolves once the event that is being published now, if there is one, was answered and told. */
	answered(): Promise<void>;
}

/** Publishes what happens in the store, one event at a time. */
export function startPublishing(options: PublishingOptions): Publishing {
	const { api, projectId, store, limit, signal, onPublished } = options;
	let current: Promise<void> = Promise.resolve();

	return { done: publishAll(), answered: () => current };

	async function publishAll(): Promise<void> {
		for (let count = 0; count < limit && !signal.aborted; count++) {
			if (count > 0) await pause(store.pause(), signal);
			if (signal.aborted) return;
			current = publishNext();
			await current;
		}
	}

	async function publishNext(): Promise<void> {
		const what = store.next();
		const calledAt = performance.now();
		onPublished(await api.publish(projectId, { type: what.type, data: what.data }), what, calledAt);
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
