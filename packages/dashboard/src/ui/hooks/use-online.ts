import { useSyncExternalStore } from "react";

function subscribe(onChange: () => void): () => void {
	window.addEventListener("online", onChange);
	window.addEventListener("offline", onChange);
	return () => {
		window.removeEventListener("online", onChange);
		window.removeEventListener("offline", onChange);
	};
}

/** Whether the browser has a network connection at all. */
export const useOnline = () => useSyncExternalStore(subscribe, () => navigator.onLine);
