import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import type { SessionProject } from "../../api/model.ts";
import { projectsQuery } from "../../api/projects.ts";
import { useSession } from "../../api/session.ts";

export interface ProjectRow extends SessionProject {
	readonly created_at?: string;
}

interface Projects {
	/** Undefined while they load. */
	readonly rows: readonly ProjectRow[] | undefined;
	readonly error: Error | null;
	readonly retry: () => unknown;
	/** Whether there are rows that aren't loaded yet. */
	readonly hasMore: boolean;
	readonly loading: boolean;
	readonly loadMore: () => unknown;
}

/**
 * The projects that the user is a member of, or for the operator every project of the instance, page by page.
 *
 * @param all whether every page is needed
 */
export function useProjects(all: boolean): Projects {
	const { account, projects } = useSession();
	const query = useInfiniteQuery({ ...projectsQuery, enabled: account.operator });
	const { data, error, refetch, hasNextPage, fetchNextPage, isFetching, isFetchingNextPage } = query;
	useEffect(() => {
		if (all && hasNextPage && !isFetching && error === null) void fetchNextPage();
	}, [all, hasNextPage, isFetching, error, fetchNextPage]);
	if (!account.operator)
		return { rows: projects, error: null, retry: () => {}, hasMore: false, loading: false, loadMore: () => {} };
	return {
		rows: data?.pages.flatMap((page) => page.data).map((project) => ({ ...project, role: "owner" as const })),
		error,
		retry: data === undefined ? refetch : fetchNextPage,
		hasMore: hasNextPage,
		loading: isFetchingNextPage,
		loadMore: fetchNextPage,
	};
}
