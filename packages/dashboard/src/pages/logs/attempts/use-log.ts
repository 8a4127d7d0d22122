import { keepPreviousData, useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import {
	type AttemptCount,
	askAgain,
	attemptCountQuery,
	attemptsQuery,
	type ListedAttempt,
	newestAttemptsQuery,
	searchedOf,
} from "../../../api/attempts.ts";
import { useLive } from "../../../api/client/live.tsx";
import type { ShownList } from "../log-frame.tsx";
import { attemptFilter, type LogsSearch } from "../search.ts";
import { hasRows, useKeptStill } from "../use-kept-still.ts";

/** How many pages update live. Each hint refetches all of them. */
const MAX_FOLLOWED_PAGES = 2;

export interface Log extends ShownList<ListedAttempt> {
	readonly count: AttemptCount | undefined;
	/** How many newer entries aren't shown yet while the list is paused; at most a page of them. */
	readonly waiting: number;
	/** Shows the newest entries. */
	readonly showNewest: () => void;
}

/**
 * The log as shown. It updates live unless it is `held`, paused, or many pages long. Then it stays as it is, so that
 * nothing moves while someone reads it, and newer entries are only counted.
 */
export function useLog(projectId: string, given: LogsSearch, held: boolean): Log {
	const search = useMemo(() => attemptFilter(given), [given]);
	const queryClient = useQueryClient();
	const { state } = useLive();
	const options = attemptsQuery(projectId, search);
	const known = queryClient.getQueryData(options.queryKey);
	const paused = state === "paused";
	const still = (held && hasRows(known)) || (known?.pages.length ?? 0) > MAX_FOLLOWED_PAGES;
	useKeptStill(options.queryKey, still);
	const list = useInfiniteQuery({
		...options,
		enabled: known === undefined || !(still || paused),
		placeholderData: keepPreviousData,
		refetchInterval: askAgain(search),
	});
	const rows = useMemo(() => list.data?.pages.flatMap(({ data }) => data), [list.data]);
	const outdated = list.isPlaceholderData;

	// Ids sort by time: those beyond the newest one of the first load arrived since.
	const view = JSON.stringify(search);
	const [firstLook, setFirstLook] = useState({ view: "", newest: "" });
	if (rows !== undefined && !outdated && firstLook.view !== view) setFirstLook({ view, newest: rows[0]?.id ?? "" });

	const newest = rows?.[0]?.id ?? "";
	const ahead = useQuery({
		...newestAttemptsQuery(projectId, search),
		enabled: known !== undefined && still && !paused,
	});
	const counted = useQuery(attemptCountQuery(projectId, search, !paused));
	const hasMore = list.hasNextPage && !outdated;
	const everything = rows !== undefined && !outdated && !list.hasNextPage;

	return {
		rows,
		// If every row is loaded, their number is the count.
		count: everything ? { count: rows.length, capped: false } : counted.data,
		searched: searchedOf(list.data),
		error: list.isFetchNextPageError ? null : list.error,
		retry: list.refetch,
		outdated,
		isNew: ({ id }) => firstLook.view === view && id > firstLook.newest,
		still: still && !paused,
		waiting: still && !paused && !outdated ? (ahead.data?.filter(({ id }) => id > newest).length ?? 0) : 0,
		showNewest: () => {
			queryClient.setQueryData(options.queryKey, (data) =>
				data === undefined ? data : { pages: data.pages.slice(0, 1), pageParams: data.pageParams.slice(0, 1) },
			);
			void list.refetch();
		},
		hasMore,
		loadingMore: list.isFetchingNextPage,
		moreError: list.isFetchNextPageError ? list.error : null,
		loadMore: list.fetchNextPage,
	};
}
