import { useInfiniteQuery } from "@tanstack/react-query";
import { projectsQuery } from "../../api/projects.ts";
import { LoadMore } from "../../ui/page/load-more.tsx";
import { Section } from "../../ui/page/page.tsx";
import { ErrorState } from "../../ui/page/states.tsx";
import { ProjectsTable } from "./projects-table.tsx";

/** Every project of the instance. */
export function AllProjects() {
	const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(projectsQuery);
	if (error !== null && data === undefined) return <ErrorState error={error} onRetry={refetch} />;
	const rows = data?.pages.flatMap((page) => page.data).map((project) => ({ ...project, role: "owner" as const }));
	return (
		<Section flush>
			<ProjectsTable rows={rows} />
			<LoadMore hasMore={hasNextPage} loading={isFetchingNextPage} onMore={fetchNextPage} />
		</Section>
	);
}
