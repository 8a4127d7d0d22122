import {
	type InfiniteData,
	keepPreviousData,
	type QueryKey,
	type UseInfiniteQueryOptions,
	useInfiniteQuery,
	useQueryClient,
} from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { askAgain, type Searched, type Span, searchedOf } from "../../api/attempts.ts";
import { useLive } from "../../api/client/live.tsx";
import type { Page } from "../../api/client/pages.ts";

/** A list of the log as it is shown. */
export interface ShownList<Row> {
	/** Newest first; undefined until they are known. */
	readonly rows: readonly Row[] | undefined;
	readonly error: unknown;
	readonly retry: () => unknown;
	/** How much of the log was searched for order ids or customers; null without such a filter. */
	readonly searched: Searched | null;
	/** Whether the rows are still those of the previous filter. */
	readonly outdated: boolean;
	/** Whether the list is paused although pages update live. */
	readonly still: boolean;
	/** Whether a row arrived while the page was open. */
	readonly isNew: (row: Row) => boolean;
	readonly hasMore: boolean;
	readonly loadingMore: boolean;
	/** Why older rows couldn't be loaded; null unless that was tried last. */
	readonly moreError: unknown;
	readonly loadMore: () => unknown;
}

type Pages<Row> = InfiniteData<Page<Row>>;

/** How many pages update live. Each hint refetches all of them. */
const MAX_FOLLOWED_PAGES = 2;

/** Whether a list has rows that someone may be reading: an empty one never keeps still. */
const hasRows = (list: Pages<unknown> | undefined): boolean => list?.pages.some(({ data }) => data.length > 0) ?? false;

/**
 * A list of the log. It updates live unless it is `held`, paused, or many pages long. Then it stays as it is, so that
 * nothing moves while someone reads it.
 *
 * @param idOf the id of a row's attempt, if it has any
 */
export function useShownList<Row>(
	options: UseInfiniteQueryOptions<Page<Row>, Error, Pages<Row>, QueryKey, string | null>,
	search: { readonly span?: Span },
	held: boolean,
	idOf: (row: Row) => string | undefined,
): ShownList<Row> {
	const queryClient = useQueryClient();
	const isPaused = useLive().state === "paused";
	const { queryKey } = options;
	const known = queryClient.getQueryData<Pages<Row>>(queryKey);
	const still = (held && hasRows(known)) || (known?.pages.length ?? 0) > MAX_FOLLOWED_PAGES;
	useKeptStill(queryKey, still);
	const list = useInfiniteQuery({
		...options,
		enabled: known === undefined || !(still || isPaused),
		placeholderData: keepPreviousData,
		refetchInterval: askAgain(search),
	});
	const rows = useMemo(() => list.data?.pages.flatMap(({ data }) => data), [list.data]);
	const { fetchNextPage, isFetchingNextPage, isFetchNextPageError, isPlaceholderData: outdated } = list;
	const hasMore = list.hasNextPage && !outdated;

	// A page may be empty although more follow: the service limits how much of the log one call examines.
	const isEmptySoFar = rows?.length === 0 && hasMore;
	useEffect(() => {
		if (isEmptySoFar && !isFetchingNextPage && !isFetchNextPageError) void fetchNextPage();
	}, [isEmptySoFar, isFetchingNextPage, isFetchNextPageError, fetchNextPage]);

	// Ids sort by time: those beyond the newest one of the first load arrived since.
	const view = JSON.stringify(queryKey);
	const [firstLook, setFirstLook] = useState({ view: "", newest: "" });
	if (rows !== undefined && !outdated && firstLook.view !== view)
		setFirstLook({ view, newest: rows.map(idOf).find((id) => id !== undefined) ?? "" });

	return {
		rows: isEmptySoFar ? undefined : rows,
		searched: searchedOf(list.data),
		error: isFetchNextPageError && !isEmptySoFar ? null : list.error,
		retry: isEmptySoFar ? fetchNextPage : list.refetch,
		outdated,
		still: still && !isPaused,
		isNew: (row) => firstLook.view === view && (idOf(row) ?? "") > firstLook.newest,
		hasMore: hasMore && !isEmptySoFar,
		loadingMore: isFetchingNextPage,
		moreError: isFetchNextPageError ? list.error : null,
		loadMore: fetchNextPage,
	};
}

/** When a list starts to keep still, drops a refetch that is on its way: its rows would move under the pointer. */
function useKeptStill(queryKey: QueryKey, still: boolean): void {
	const queryClient = useQueryClient();
	const key = JSON.stringify(queryKey);
	useEffect(() => {
		const query = still ? queryClient.getQueryCache().find({ queryKey: JSON.parse(key), exact: true }) : undefined;
		// The first load and older pages don't move what is shown.
		if (query?.state.data === undefined || query.state.fetchMeta?.fetchMore) return;
		void query.cancel({ revert: true, silent: true });
	}, [queryClient, key, still]);
}
