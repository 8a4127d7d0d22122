import { type Query, QueryClient } from "@tanstack/react-query";
import { isStatus } from "./error.ts";

/** How long responses stay fresh without a live hint, in milliseconds. */
const STALE_MS = 15_000;
const RETRIES = 2;

export const queryClient = new QueryClient({
	defaultOptions: {
		queries: {
			staleTime: STALE_MS,
			retry: (failures, error) => failures < RETRIES && isStatus(error, 0, 502, 503, 504),
			retryDelay: (failures) => 500 * 2 ** failures,
		},
		mutations: { retry: false },
	},
});

/** When each query's last request began, by `performance.now()`. */
const begun = new WeakMap<Query, number>();

queryClient.getQueryCache().subscribe((event) => {
	if (event.type === "updated" && event.action.type === "fetch") begun.set(event.query, performance.now());
});

/** Whether the query's last request began after `at`, by `performance.now()`. */
export const fetchedSince = (query: Query, at: number) => (begun.get(query) ?? Number.NEGATIVE_INFINITY) >= at;
