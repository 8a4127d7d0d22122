import { useEffect } from "react";

/** Names the browser's tab while something is open, and gives it back its name afterwards. */
export function useTitleWhile(title: string | null): void {
	useEffect(() => {
		if (title === null) return;
		const before = document.title;
		document.title = `${title} · Posthorn`;
		return () => {
			document.title = before;
		};
	}, [title]);
}
