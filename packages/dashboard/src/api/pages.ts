import { infiniteQueryOptions, type QueryKey } from "@tanstack/react-query";
import { api, type CallOptions } from "./client.ts";
import type { Page } from "./model.ts";

/** A list that is read page by page: `useInfiniteQuery(pagedQuery<Attempt>(key, template, { path, query }))`. */
export const pagedQuery = <Item>(queryKey: QueryKey, template: string, options: Pick<CallOptions, "path" | "query">) =>
	infiniteQueryOptions({
		queryKey,
		queryFn: ({ pageParam, signal }) =>
			api.get<Page<Item>>(template, { ...options, query: { ...options.query, cursor: pageParam }, signal }),
		initialPageParam: null as string | null,
		getNextPageParam: (page) => page.next_cursor,
	});
