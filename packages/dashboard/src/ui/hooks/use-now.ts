import { useEffect, useState } from "react";
import { serverNow } from "../../lib/text/server-time.ts";
import { refreshAfter } from "../../lib/text/time.ts";

/** The current time in milliseconds since 1970, refreshed whenever a time relative to `at` changes. */
export function useNow(at: number): number {
	const [now, setNow] = useState(serverNow);
	useEffect(() => {
		const timer = setTimeout(() => setNow(serverNow()), refreshAfter(at, now));
		return () => clearTimeout(timer);
	}, [at, now]);
	return now;
}
