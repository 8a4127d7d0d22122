import { Button, Group } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconFolders, IconLink, IconPlus } from "@tabler/icons-react";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useSession } from "../../api/session.ts";
import { matchSentence, plural } from "../../lib/text/numbers.ts";
import { Page, PageHeader } from "../../ui/page/page.tsx";
import { EmptyState } from "../../ui/page/states.tsx";
import { NewProjectDialog } from "./new-project-dialog.tsx";
import { ProjectFilter, ProjectsList } from "./projects-list.tsx";
import { isFiltered, MANY_PROJECTS, type ProjectsSearch, validateProjectsSearch } from "./search.ts";
import { SignInLinkDialog } from "./sign-in-link-dialog.tsx";
import { useFoundProjects } from "./use-found-projects.ts";
import { useProjects } from "./use-projects.ts";

/** The projects that the user can see; the operator sees all, and creates them. */
export function ProjectsPage() {
	const { account, projects } = useSession();
	const [creating, create] = useDisclosure(false);
	const [linking, link] = useDisclosure(false);
	const search = validateProjectsSearch({ ...useSearch({ from: "/signed-in/plain/projects" }) });
	const { text = "", attention = false } = search;
	const list = useProjects(isFiltered(search));
	const found = useFoundProjects(list, search);
	const navigate = useNavigate();
	const find = (next: ProjectsSearch) =>
		void navigate({ to: "/projects", search: next, replace: true, resetScroll: false });
	const newProject = (
		<Button leftSection={<IconPlus size={16} aria-hidden />} onClick={create.open}>
			New project
		</Button>
	);
	return (
		<Page>
			<PageHeader
				title="Projects"
				actions={
					account.operator ? (
						<Group gap="xs">
							<Button variant="default" leftSection={<IconLink size={16} aria-hidden />} onClick={link.open}>
								Sign-in link
							</Button>
							{newProject}
						</Group>
					) : null
				}
			>
				{isFiltered(search) && list.rows !== undefined && found.rows !== undefined
					? found.isSearching
						? "Searching …"
						: matchSentence(found.rows.length, list.rows.length, "project")
					: projects.length === 0
						? "A project is a store, with its events, its webhooks and its members."
						: account.operator
							? "As the operator of this instance, you're an owner of every project."
							: `You're a member of ${plural(projects.length, "project")}.`}
			</PageHeader>
			{projects.length > 0 ? (
				<>
					{projects.length > MANY_PROJECTS || text !== "" || attention ? (
						<ProjectFilter search={search} onChange={find} />
					) : null}
					<ProjectsList projects={list} found={found} search={search} onClear={() => find({})} />
				</>
			) : account.operator ? (
				<EmptyState title="Create the first project" icon={<IconFolders size={26} />} action={newProject}>
					A project has its own events, webhooks, keys and members. Most stores need one, and perhaps a second one for
					testing.
				</EmptyState>
			) : (
				<EmptyState title="You're not in a project yet" icon={<IconFolders size={26} />}>
					Ask an owner of a project, or the operator of this instance, to send you an invitation link.
				</EmptyState>
			)}
			<NewProjectDialog opened={creating} onClose={create.close} />
			<SignInLinkDialog opened={linking} onClose={link.close} />
		</Page>
	);
}
