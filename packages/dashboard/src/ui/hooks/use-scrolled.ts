import { useSyncExternalStore } from "react";

function subscribe(onChange: () => void): () => void {
	window.addEventListener("scroll", onChange, { passive: true });
	return () => window.removeEventListener("scroll", onChange);
}

/** Whether the page is scrolled down by more than `pixels`. */
export const useScrolled = (pixels: number) => useSyncExternalStore(subscribe, () => window.scrollY > pixels);
