import { useEffect, useState } from "react";
import { refreshAfter } from "../lib/time.ts";

/** The present in milliseconds since 1970, taken anew as often as a relative time to `at` needs it. */
export function useNow(at: number): number {
	const [now, setNow] = useState(() => Date.now());
	useEffect(() => {
		const timer = setTimeout(() => setNow(Date.now()), refreshAfter(at, now));
		return () => clearTimeout(timer);
	}, [at, now]);
	return now;
}
