import { Button } from "@mantine/core";
import { IconFilterOff } from "@tabler/icons-react";
import { useRef } from "react";
import { FindField } from "../../ui/find-field.tsx";
import { useShortcuts } from "../../ui/hooks/use-shortcuts.ts";
import { LoadMore } from "../../ui/page/load-more.tsx";
import { Section } from "../../ui/page/page.tsx";
import { EmptyState, ErrorState } from "../../ui/page/states.tsx";
import { ProjectsTable } from "./projects-table.tsx";
import { findProjects } from "./search.ts";
import type { useProjects } from "./use-projects.ts";

interface ProjectsListProps {
	projects: ReturnType<typeof useProjects>;
	text: string;
	onClear: () => void;
}

/** The projects that match; until every one is loaded, those found so far. */
export function ProjectsList({ projects, text, onClear }: ProjectsListProps) {
	const { rows, error, retry, hasMore, loading, loadMore } = projects;
	const found = rows && findProjects(rows, text);
	const isSearching = text !== "" && hasMore;
	if (error !== null && (rows === undefined || isSearching)) return <ErrorState error={error} onRetry={retry} />;
	if (found?.length === 0 && !isSearching)
		return (
			<EmptyState
				title="No project matches"
				icon={<IconFilterOff size={26} />}
				action={
					<Button variant="default" onClick={onClear}>
						Clear the search
					</Button>
				}
			>
				No project has that text in its name or id.
			</EmptyState>
		);
	return (
		<Section flush>
			<ProjectsTable rows={found?.length === 0 ? undefined : found} />
			{text === "" ? <LoadMore hasMore={hasMore} loading={loading} error={error} onMore={loadMore} /> : null}
		</Section>
	);
}

/** Finds a project in a long list. `/` focuses it. */
export function ProjectFilter({ text, onChange }: { text: string; onChange: (text: string) => void }) {
	const field = useRef<HTMLInputElement>(null);
	useShortcuts({ "/": () => field.current?.focus() }, { first: true });
	return (
		<search aria-label="Filters">
			<FindField
				ref={field}
				maw={320}
				aria-label="Find a project"
				placeholder="Name or id"
				value={text}
				onChange={onChange}
			/>
		</search>
	);
}
