import { useEffect, useState } from "react";
import { refreshAfter } from "../../lib/text/time.ts";

/** The current time in milliseconds since 1970, refreshed whenever a time relative to `at` changes. */
export function useNow(at: number): number {
	const [now, setNow] = useState(() => Date.now());
	useEffect(() => {
		const timer = setTimeout(() => setNow(Date.now()), refreshAfter(at, now));
		return () => clearTimeout(timer);
	}, [at, now]);
	return now;
}
