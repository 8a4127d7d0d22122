import { useSyncExternalStore } from "react";

const KEY = "posthorn-single-keys";
const listeners = new Set<() => void>();

function read(): boolean {
	try {
		return localStorage.getItem(KEY) !== "off";
	} catch {
		return true;
	}
}

let on = read();

/**
 * Whether single keys are shortcuts in this browser. To software that types spoken words, or to a hand that slips, each
 * of them is a trap (WCAG 2.1.4).
 */
export const areSingleKeysOn = () => on;

const set = (next: boolean) => {
	on = next;
	for (const listener of listeners) listener();
};

export function setSingleKeys(next: boolean): void {
	set(next);
	try {
		localStorage.setItem(KEY, next ? "on" : "off");
	} catch {
		// It holds until the page is loaded again.
	}
}

// Another tab changed the setting or cleared the storage.
window.addEventListener("storage", ({ key }) => {
	if (key === KEY || key === null) set(read());
});

function subscribe(listener: () => void): () => void {
	listeners.add(listener);
	return () => listeners.delete(listener);
}

export const useSingleKeys = () => useSyncExternalStore(subscribe, areSingleKeysOn);
