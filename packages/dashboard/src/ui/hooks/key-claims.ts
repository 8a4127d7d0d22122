import { useLayoutEffect, useSyncExternalStore } from "react";

/** The keys that a page has taken over from the shell, and how often. */
const claimed = new Map<string, number>();
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
	listeners.add(listener);
	return () => listeners.delete(listener);
}

function add(keys: readonly string[], by: 1 | -1): void {
	for (const key of keys) claimed.set(key, (claimed.get(key) ?? 0) + by);
	for (const listener of listeners) listener();
}

/** Claims keys while the component is mounted, so that the shell doesn't offer them too. */
export function useKeyClaims(keys: readonly string[]): void {
	const names = keys.join(" ");
	useLayoutEffect(() => {
		if (names === "") return;
		const claims = names.split(" ");
		add(claims, 1);
		return () => add(claims, -1);
	}, [names]);
}

/** Whether a page has taken the key over. */
export const useIsClaimed = (key: string): boolean =>
	useSyncExternalStore(subscribe, () => (claimed.get(key) ?? 0) > 0);
