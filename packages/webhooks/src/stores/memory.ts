import type { Store } from "../store.ts";

export interface MemoryStoreOptions {
	/** How many events to remember. 100,000 by default; the oldest finished ones are forgotten first. */
	readonly limit?: number;
	/** Any clock in milliseconds. `performance.now` by default, which never runs backwards. */
	readonly now?: () => number;
}

interface Entry {
	token: string;
	due: number;
	done: boolean;
}

/** Remembers events in this process: for tests, development, and receivers whose work may be repeated after a restart. */
export function memoryStore({ limit = 100_000, now = () => performance.now() }: MemoryStoreOptions = {}): Store {
	const entries = new Map<string, Entry>();

	function forget(): void {
		if (entries.size <= limit) return;
		for (const [key, { done, due }] of entries) {
			if (!done && due > now()) continue;
			entries.delete(key);
			return;
		}
	}

	function held(key: string, token: string): Entry | undefined {
		const entry = entries.get(key);
		return entry?.token === token && !entry.done ? entry : undefined;
	}

	return {
		async claim(key, token, leaseMs) {
			const entry = entries.get(key);
			if (entry?.done) return "done";
			if (entry && entry.due > now()) return "in_progress";
			entries.set(key, { token, due: now() + leaseMs, done: false });
			forget();
			return "claimed";
		},
		async renew(key, token, leaseMs) {
			const entry = held(key, token);
			if (entry) entry.due = now() + leaseMs;
			return entry !== undefined;
		},
		async finish(key, token) {
			const entry = held(key, token);
			if (entry) entry.done = true;
			return entry !== undefined;
		},
		async release(key, token, delayMs) {
			const entry = held(key, token);
			if (entry) Object.assign(entry, { token: "", due: now() + delayMs });
		},
	};
}
