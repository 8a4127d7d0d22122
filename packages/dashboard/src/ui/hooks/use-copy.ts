import { useEffect, useState } from "react";

/** How long the button says that something was copied, in milliseconds. */
const SAID_MS = 1_500;

/** Copies a text, right after a key or a click. Rejects if the browser refuses. */
export async function copyText(text: string): Promise<void> {
	// Browsers only have it over HTTPS and on this machine. Otherwise, they copy what an event says.
	if ("clipboard" in navigator) return navigator.clipboard.writeText(text);
	let isCopied = false;
	const fill = (event: ClipboardEvent) => {
		event.preventDefault();
		event.clipboardData?.setData("text/plain", text);
		isCopied = true;
	};
	document.addEventListener("copy", fill);
	document.execCommand("copy");
	document.removeEventListener("copy", fill);
	if (!isCopied) throw new DOMException("The browser doesn't copy here.", "NotAllowedError");
}

/** Copies texts, and tells for a moment that one was copied, or until the next one that the browser refused. */
export function useCopy() {
	const [state, setState] = useState<"copied" | "refused" | null>(null);
	useEffect(() => {
		if (state !== "copied") return;
		const timer = setTimeout(() => setState(null), SAID_MS);
		return () => clearTimeout(timer);
	}, [state]);
	const copy = (text: string) =>
		void copyText(text).then(
			() => setState("copied"),
			() => setState("refused"),
		);
	return { copied: state === "copied", refused: state === "refused", copy };
}
