import { keepPreviousData, useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { askAgain, searchedOf } from "../../../api/attempts.ts";
import { useLive } from "../../../api/client/live.tsx";
import { type DeliverySummary, deliveriesQuery, deliveryKey } from "../../../api/deliveries.ts";
import type { ShownList } from "../log-frame.tsx";
import { deliveryFilter, type LogsSearch } from "../search.ts";
import { hasRows, useKeptStill } from "../use-kept-still.ts";

/** How many pages update live. Each hint refetches all of them. */
const MAX_FOLLOWED_PAGES = 2;

/** Tells series apart. */
export const seriesKey = (row: DeliverySummary) => `${deliveryKey(row)} ${row.replay}`;

/** The list of deliveries. It updates live unless it is `held`, paused, or many pages long. */
export function useDeliveries(projectId: string, search: LogsSearch, held: boolean): ShownList<DeliverySummary> {
	const queryClient = useQueryClient();
	const { state } = useLive();
	const options = deliveriesQuery(projectId, deliveryFilter(search));
	const known = queryClient.getQueryData(options.queryKey);
	const still = (held && hasRows(known)) || (known?.pages.length ?? 0) > MAX_FOLLOWED_PAGES;
	useKeptStill(options.queryKey, still);
	const list = useInfiniteQuery({
		...options,
		enabled: known === undefined || !(still || state === "paused"),
		placeholderData: keepPreviousData,
		refetchInterval: askAgain(search),
	});
	const rows = useMemo(() => list.data?.pages.flatMap(({ data }) => data), [list.data]);
	const outdated = list.isPlaceholderData;
	const hasMore = list.hasNextPage && !outdated;
	const { fetchNextPage, isFetchingNextPage, isFetchNextPageError } = list;

	// A page may be empty although more follow: the service limits how much of the log one call examines.
	const isEmptySoFar = rows?.length === 0 && hasMore;
	useEffect(() => {
		if (isEmptySoFar && !isFetchingNextPage && !isFetchNextPageError) void fetchNextPage();
	}, [isEmptySoFar, isFetchingNextPage, isFetchNextPageError, fetchNextPage]);

	// Ids sort by time: those beyond the newest one of the first load arrived since.
	const view = JSON.stringify(search);
	const newest = rows?.find(({ last_attempt }) => last_attempt !== null)?.last_attempt?.id ?? "";
	const [firstLook, setFirstLook] = useState({ view: "", newest: "" });
	if (rows !== undefined && !outdated && firstLook.view !== view) setFirstLook({ view, newest });

	return {
		rows: isEmptySoFar ? undefined : rows,
		searched: searchedOf(list.data),
		error: isFetchNextPageError && !isEmptySoFar ? null : list.error,
		retry: isEmptySoFar ? fetchNextPage : list.refetch,
		outdated,
		still: still && state !== "paused",
		isNew: ({ last_attempt }) => firstLook.view === view && last_attempt !== null && last_attempt.id > firstLook.newest,
		hasMore: hasMore && !isEmptySoFar,
		loadingMore: isFetchingNextPage,
		moreError: isFetchNextPageError ? list.error : null,
		loadMore: fetchNextPage,
	};
}
