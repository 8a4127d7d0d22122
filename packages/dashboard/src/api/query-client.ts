import { QueryClient } from "@tanstack/react-query";
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
