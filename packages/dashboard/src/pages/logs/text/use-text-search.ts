import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { type EventMatch, searchTexts } from "../../../api/events.ts";

/** A search through events' bodies and recorded responses, newest first, step by step. */
export interface TextSearch {
	readonly state: "searching" | "stopped" | "over";
	readonly found: readonly EventMatch[];
	/** How many events and responses were read, and back to when everything was. */
	readonly events: number;
	readonly responses: number;
	readonly backTo: string | null;
	readonly error: unknown;
	readonly stop: () => void;
	readonly resume: () => void;
}

/** Stops after this many further matches, until it is resumed. */
const MATCHES_AT_ONCE = 100;

/** Searches until it is stopped, everything was searched, or the component is gone. */
export function useTextSearch(projectId: string, text: string): TextSearch {
	const queryClient = useQueryClient();
	// Not under the project, whose hints would start it over.
	const queryKey = ["text-search", projectId, text];
	/** The number of matches at which it stops; null once someone has stopped it. */
	const [goal, setGoal] = useState<number | null>(MATCHES_AT_ONCE);
	const { data, error, isFetching, hasNextPage, fetchNextPage } = useInfiniteQuery({
		queryKey,
		queryFn: ({ pageParam, signal }) => searchTexts(projectId, text, pageParam, signal),
		initialPageParam: null as string | null,
		getNextPageParam: (page) => page.next_cursor,
		gcTime: 0,
		staleTime: "static",
		retry: false,
		refetchOnWindowFocus: false,
		refetchOnReconnect: false,
	});
	const pages = data?.pages ?? [];
	const found = pages.flatMap((page) => page.data);
	const isOver = data !== undefined && !hasNextPage;
	const isSearching = !isOver && goal !== null && found.length < goal && (error === null || isFetching);
	useEffect(() => {
		if (isSearching && !isFetching) void fetchNextPage();
	}, [isSearching, isFetching, fetchNextPage]);
	return {
		state: isOver ? "over" : isSearching ? "searching" : "stopped",
		found,
		events: pages.reduce((sum, page) => sum + page.events_searched, 0),
		responses: pages.reduce((sum, page) => sum + page.attempts_searched, 0),
		backTo: pages.findLast((page) => page.searched_back_to !== null)?.searched_back_to ?? null,
		error: isFetching ? null : error,
		stop: () => {
			setGoal(null);
			void queryClient.cancelQueries({ queryKey });
		},
		resume: () => {
			setGoal(found.length + MATCHES_AT_ONCE);
			if (error !== null) void fetchNextPage();
		},
	};
}
