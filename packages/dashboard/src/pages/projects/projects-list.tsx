import { Button, Checkbox, Group } from "@mantine/core";
import { IconFilterOff } from "@tabler/icons-react";
import { useRef } from "react";
import { FindField } from "../../ui/find-field.tsx";
import { useShortcuts } from "../../ui/hooks/use-shortcuts.ts";
import { LoadMore } from "../../ui/page/load-more.tsx";
import { Section } from "../../ui/page/page.tsx";
import { EmptyState, ErrorState } from "../../ui/page/states.tsx";
import { ProjectsTable } from "./projects-table.tsx";
import { isFiltered, type ProjectsSearch, validateProjectsSearch } from "./search.ts";
import type { FoundProjects } from "./use-found-projects.ts";
import type { useProjects } from "./use-projects.ts";

interface ProjectsListProps {
	projects: ReturnType<typeof useProjects>;
	found: FoundProjects;
	search: ProjectsSearch;
	onClear: () => void;
}

/** The projects that match; until every one is loaded, those found so far. */
export function ProjectsList({ projects, found, search, onClear }: ProjectsListProps) {
	const { error, retry, hasMore, loading, loadMore } = projects;
	const { rows, groups, isSearching } = found;
	const { text = "", attention = false } = search;
	if (error !== null && (rows === undefined || (isFiltered(search) && hasMore)))
		return <ErrorState error={error} onRetry={retry} />;
	if (rows?.length === 0 && !isSearching)
		return (
			<EmptyState
				title={attention ? "No project needs attention" : "No project matches"}
				icon={<IconFilterOff size={26} />}
				action={
					<Button variant="default" onClick={onClear}>
						{attention ? "Show all projects" : "Clear the search"}
					</Button>
				}
			>
				{text === ""
					? "No webhook is failing or unstable, and no failed delivery needs a decision."
					: `No project ${attention ? "that needs attention " : ""}has that text in its name or id.`}
			</EmptyState>
		);
	return (
		<Section flush>
			<ProjectsTable rows={rows?.length === 0 ? undefined : rows} groups={groups} />
			{isFiltered(search) ? null : <LoadMore hasMore={hasMore} loading={loading} error={error} onMore={loadMore} />}
		</Section>
	);
}

interface ProjectFilterProps {
	search: ProjectsSearch;
	onChange: (search: ProjectsSearch) => void;
}

/** Finds projects in a long list. `/` focuses the search. */
export function ProjectFilter({ search: { text = "", attention = false }, onChange }: ProjectFilterProps) {
	const field = useRef<HTMLInputElement>(null);
	useShortcuts({ "/": () => field.current?.focus() }, { first: true });
	return (
		<search aria-label="Filters">
			<Group gap="xs">
				<FindField
					ref={field}
					w={320}
					maw="100%"
					aria-label="Find a project"
					placeholder="Name or id"
					value={text}
					onChange={(next) => onChange(validateProjectsSearch({ text: next, attention }))}
				/>
				<Checkbox
					size="xs"
					label="Only what needs attention"
					checked={attention}
					onChange={(event) => onChange(validateProjectsSearch({ text, attention: event.currentTarget.checked }))}
				/>
			</Group>
		</search>
	);
}
