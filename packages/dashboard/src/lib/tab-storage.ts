/** The tab's session storage. A browser's settings may not allow it, and then a tab remembers nothing. */

export function readTab(key: string): string | null {
	try {
		return sessionStorage.getItem(key);
	} catch {
		return null;
	}
}

/** Returns whether it's stored. */
export function writeTab(key: string, value: string): boolean {
	try {
		sessionStorage.setItem(key, value);
		return true;
	} catch {
		return false;
	}
}

export function removeTab(key: string): void {
	try {
		sessionStorage.removeItem(key);
	} catch {
		// Nothing was stored.
	}
}
