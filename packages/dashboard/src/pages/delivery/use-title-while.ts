import { useEffect } from "react";

/** Changes the browser tab's title while something is open, and restores it afterwards. */
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
