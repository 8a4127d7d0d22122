import { QueryClient } from "@tanstack/react-query";
import { isStatus } from "./error.ts";

/** What was asked for stays good this long, in milliseconds, unless a live hint says otherwise. */
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
