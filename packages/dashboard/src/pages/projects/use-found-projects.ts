import { useQueries } from "@tanstack/react-query";
import { type ProjectHealth, projectsHealthQuery, REFRESH_MS } from "../../api/health.ts";
import { findProjects, isFiltered, type ProjectsSearch } from "./search.ts";
import type { ProjectRow, useProjects } from "./use-projects.ts";

/** How many projects' health is requested together: the most that the API takes. */
const TOGETHER = 20;
/** Thousands of projects are refreshed less often: at most one request in this time on average, in milliseconds. */
const REQUEST_MS = 600;

const hasWebhooks = ({ apps }: ProjectRow) => apps.includes("developer");

/** For each project with webhooks, those whose health is requested together with its own. */
type HealthGroups = ReadonlyMap<string, readonly string[]>;

function groupsOf(rows: readonly ProjectRow[]): HealthGroups {
	const ids = rows.filter(hasWebhooks).map(({ id }) => id);
	const groups = new Map<string, readonly string[]>();
	for (let first = 0; first < ids.length; first += TOGETHER) {
		const group = ids.slice(first, first + TOGETHER);
		for (const id of group) groups.set(id, group);
	}
	return groups;
}

const needsAttention = ({ webhooks, dead_letters }: ProjectHealth) =>
	webhooks.failing + webhooks.unstable + dead_letters > 0;

export interface FoundProjects {
	/** Undefined while they load. */
	readonly rows: readonly ProjectRow[] | undefined;
	readonly groups: HealthGroups;
	/** Whether more may be found. */
	readonly isSearching: boolean;
}

/** The projects that match; of those that need attention, also the ones whose health was never read, because it failed. */
export function useFoundProjects(
	{ rows, hasMore }: ReturnType<typeof useProjects>,
	search: ProjectsSearch,
): FoundProjects {
	const { text = "", attention = false } = search;
	const named = rows && findProjects(rows, text);
	// If all were read, what is typed needs no other groups.
	const groups = groupsOf((attention ? rows : named) ?? []);
	const wanted = new Set(attention ? named?.map(({ id }) => groups.get(id)) : []);
	const requests = [...wanted].filter((group) => group !== undefined);
	const refreshMs = Math.max(REFRESH_MS, requests.length * REQUEST_MS);
	const read = useQueries({ queries: requests.map((ids) => projectsHealthQuery(ids, refreshMs)) });
	const isSearching = isFiltered(search) && hasMore;
	if (!attention || named === undefined) return { rows: named, groups, isSearching };
	const ids = new Set(
		read.flatMap(({ data, error }, index) =>
			data === undefined && error !== null
				? requests[index]!
				: (data ?? []).filter(needsAttention).map(({ project_id }) => project_id),
		),
	);
	return {
		rows: named.filter(({ id }) => ids.has(id)),
		groups,
		isSearching: isSearching || read.some(({ isPending, isPlaceholderData }) => isPending || isPlaceholderData),
	};
}
