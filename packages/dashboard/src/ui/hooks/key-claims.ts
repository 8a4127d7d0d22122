import { useLayoutEffect, useSyncExternalStore } from "react";

/** The keys that a page has taken over from the shell. */
const claimed = new Set<string>();
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
	listeners.add(listener);
	return () => listeners.delete(listener);
}

function tell(): void {
	for (const listener of listeners) listener();
}

/** Claims keys while the component is mounted, so that the shell doesn't offer them too. */
export function useKeyClaims(keys: readonly string[]): void {
	const names = keys.join(" ");
	useLayoutEffect(() => {
		if (names === "") return;
		const mine = names.split(" ");
		for (const key of mine) claimed.add(key);
		tell();
		return () => {
			for (const key of mine) claimed.delete(key);
			tell();
		};
	}, [names]);
}

/** Whether a page has taken the key over. */
export const useIsClaimed = (key: string): boolean => useSyncExternalStore(subscribe, () => claimed.has(key));
