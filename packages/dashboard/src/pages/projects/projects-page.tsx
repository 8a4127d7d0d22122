import { Button, Group } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconFolders, IconLink, IconPlus } from "@tabler/icons-react";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useSession } from "../../api/session.ts";
import { plural } from "../../lib/text/numbers.ts";
import { Page, PageHeader } from "../../ui/page/page.tsx";
import { EmptyState } from "../../ui/page/states.tsx";
import { NewProjectDialog } from "./new-project-dialog.tsx";
import { ProjectFilter, ProjectsList } from "./projects-list.tsx";
import { findProjects, foundSentence, MANY_PROJECTS, validateProjectsSearch } from "./search.ts";
import { SignInLinkDialog } from "./sign-in-link-dialog.tsx";
import { useProjects } from "./use-projects.ts";

/** The projects that the user can see; the operator sees all, and creates them. */
export function ProjectsPage() {
	const { account, projects } = useSession();
	const [creating, create] = useDisclosure(false);
	const [linking, link] = useDisclosure(false);
	const { text = "" } = validateProjectsSearch({ ...useSearch({ from: "/signed-in/plain/projects" }) });
	const list = useProjects(text !== "");
	const navigate = useNavigate();
	const find = (next: string) =>
		void navigate({
			to: "/projects",
			search: validateProjectsSearch({ text: next }),
			replace: true,
			resetScroll: false,
		});
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
				{text.trim() !== "" && list.rows !== undefined && !list.hasMore
					? foundSentence(list.rows.length, findProjects(list.rows, text).length)
					: projects.length === 0
						? "A project is a store, with its events, its webhooks and its members."
						: account.operator
							? "As the operator of this instance, you're an owner of every project."
							: `You're a member of ${plural(projects.length, "project")}.`}
			</PageHeader>
			{projects.length > 0 ? (
				<>
					{projects.length > MANY_PROJECTS || text !== "" ? <ProjectFilter text={text} onChange={find} /> : null}
					<ProjectsList projects={list} text={text} onClear={() => find("")} />
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
