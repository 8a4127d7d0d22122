import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import {
	type AttemptCount,
	attemptCountQuery,
	attemptsQuery,
	type ListedAttempt,
	newestAttemptsQuery,
} from "../../../api/attempts.ts";
import { useLive } from "../../../api/client/live.tsx";
import { attemptFilter, type LogsSearch } from "../search.ts";
import { type ShownList, useShownList } from "../use-shown-list.ts";

export interface Log extends ShownList<ListedAttempt> {
	readonly count: AttemptCount | undefined;
	/** How many newer entries aren't shown yet while the list is paused; at most a page of them. */
	readonly waiting: number;
	/** Shows the newest entries. */
	readonly showNewest: () => void;
}

/** The list of attempts, and how many there are. While it stays as it is, newer entries are only counted. */
export function useLog(projectId: string, given: LogsSearch, held: boolean): Log {
	const search = useMemo(() => attemptFilter(given), [given]);
	const queryClient = useQueryClient();
	const { state } = useLive();
	const options = attemptsQuery(projectId, search);
	const list = useShownList<ListedAttempt>(options, search, held, ({ id }) => id);
	const { rows, outdated, still, hasMore, retry } = list;
	const newest = rows?.[0]?.id ?? "";
	const ahead = useQuery({ ...newestAttemptsQuery(projectId, search), enabled: still });
	const counted = useQuery(attemptCountQuery(projectId, search, state !== "paused"));
	const everything = rows !== undefined && !outdated && !hasMore;
	return {
		...list,
		// If every row is loaded, their number is the count.
		count: everything ? { count: rows.length, capped: false } : counted.data,
		waiting: still && !outdated ? (ahead.data?.filter(({ id }) => id > newest).length ?? 0) : 0,
		showNewest: () => {
			queryClient.setQueryData(options.queryKey, (data) =>
				data === undefined ? data : { pages: data.pages.slice(0, 1), pageParams: data.pageParams.slice(0, 1) },
			);
			void retry();
		},
	};
}
