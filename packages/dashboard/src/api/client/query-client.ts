import { type InvalidateQueryFilters, type Query, QueryClient } from "@tanstack/react-query";
import { ApiError, isStatus, isUnavailable } from "./error.ts";
import { holding } from "./gate.ts";

/** How long responses stay fresh without a live hint, in milliseconds. */
const STALE_MS = 15_000;
/** Options of queries for data that changes without a hint. */
export const WATCHED = { refetchInterval: STALE_MS, refetchOnWindowFocus: "always" } as const;
const RETRIES = 2;

/** Never keeps a response that was requested before its query was invalidated. */
export class ExactQueryClient extends QueryClient {
	/** Queries invalidated during a request that wasn't repeated: a first request and one for no component aren't. */
	readonly #outdated = new WeakSet<Query>();
	/** When each query's last request began, by `performance.now()`. */
	readonly #begun = new WeakMap<Query, number>();

	constructor(config?: ConstructorParameters<typeof QueryClient>[0]) {
		super(config);
		this.getQueryCache().subscribe((event) => {
			if (event.type !== "updated") return;
			const { query, action } = event;
			if (action.type === "fetch") {
				this.#outdated.delete(query);
				this.#noteBegun(query);
			} else if (action.type === "success" && this.#outdated.delete(query)) {
				void this.invalidateQueries({ queryKey: query.queryKey, exact: true });
			}
		});
	}

	override invalidateQueries(
		filters: InvalidateQueryFilters = {},
		options?: Parameters<QueryClient["invalidateQueries"]>[1],
	): Promise<void> {
		for (const query of this.getQueryCache().findAll(filters))
			if (query.state.fetchStatus !== "idle") this.#outdated.add(query);
		return super.invalidateQueries(filters, options);
	}

	/** A request that is held begins when it's released. */
	#noteBegun(query: Query): void {
		const released = holding();
		const note = () => this.#begun.set(query, performance.now());
		if (released === null) return void note();
		this.#begun.set(query, Number.POSITIVE_INFINITY);
		void released.then(note);
	}

	/** Whether the query's last request began after `at`, by `performance.now()`. */
	hasFetchedSince(query: Query, at: number): boolean {
		return (this.#begun.get(query) ?? Number.NEGATIVE_INFINITY) >= at;
	}
}

/** When the service lets a refused request be repeated, in seconds. */
const retryAfterOf = (error: unknown): number => (error instanceof ApiError ? (error.retryAfter ?? 0) : 0);

export const queryClient = new ExactQueryClient({
	defaultOptions: {
		queries: {
			// A service on this machine or network can be reached by a browser that is offline. Otherwise, the error says so.
			networkMode: "always",
			refetchOnReconnect: true,
			staleTime: STALE_MS,
			retry: (failures, error) => failures < RETRIES && (isUnavailable(error) || isStatus(error, 429)),
			retryDelay: (failures, error) => Math.max(500 * 2 ** failures, retryAfterOf(error) * 1_000),
		},
		mutations: { retry: false, networkMode: "always" },
	},
});
