import { infiniteQueryOptions, type QueryKey } from "@tanstack/react-query";
import { type CallOptions, callApi } from "./client.ts";
import type { CallOf, PathWith, ResponseOf, Schemas } from "./operation.ts";
import { whenItMay } from "./when-it-may.ts";

type Searched = Schemas["SearchedEvents"];

/** Paths that return a page of a list and accept a cursor. */
type ListPath = {
	[P in PathWith<"get">]: "cursor" extends keyof NonNullable<CallOf<P, "get">["query"]> ? P : never;
}[PathWith<"get">];

/** An item of the list at a path. */
type ItemOf<P extends ListPath> =
	ResponseOf<P, "get"> extends { readonly data: readonly (infer Item)[] } ? Item : never;

/** The largest `limit` that the API accepts. */
const LARGEST_PAGE = 200;

export interface Page<Item> {
	readonly data: readonly Item[];
	readonly next_cursor: string | null;
	readonly searched?: Searched;
}

/** All rows of a project's list, page by page. Rejects with the signal's reason once that is aborted. */
export async function allRows<P extends ListPath>(
	template: P,
	projectId: string,
	signal: AbortSignal,
): Promise<ItemOf<P>[]> {
	const rows: ItemOf<P>[] = [];
	let cursor: string | null = null;
	do {
		const options: CallOptions = { path: { project_id: projectId }, query: { limit: LARGEST_PAGE, cursor }, signal };
		const page: Page<ItemOf<P>> | null = await whenItMay(() => callApi("GET", template, options), signal);
		if (page === null) throw signal.reason;
		rows.push(...page.data);
		cursor = page.next_cursor;
	} while (cursor !== null);
	return rows;
}

/**
 * A list read page by page: `useInfiniteQuery(pagedQuery(key, template, () => ({ path, query })))`.
 *
 * @param call made for each request, because a filter may depend on the time
 * @param later how many rows the pages after the first one have, if that differs
 */
export const pagedQuery = <P extends ListPath>(
	queryKey: QueryKey,
	template: P,
	call: () => Pick<CallOf<P, "get">, "path" | "query">,
	later?: number,
) =>
	infiniteQueryOptions({
		queryKey,
		queryFn: ({ pageParam, signal }) => {
			const { path, query } = call();
			return callApi<Page<ItemOf<P>>>("GET", template, {
				...(path === undefined ? {} : { path }),
				query: {
					...(query as CallOptions["query"]),
					...(pageParam === null || later === undefined ? {} : { limit: later }),
					cursor: pageParam,
				},
				signal,
			});
		},
		initialPageParam: null as string | null,
		getNextPageParam: (page) => page.next_cursor,
	});
