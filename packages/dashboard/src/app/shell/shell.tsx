import { AppShell, Burger, Group } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Outlet, useLocation } from "@tanstack/react-router";
import { type ReactNode, useEffect, useState } from "react";
import { LiveProvider } from "../../api/client/live.tsx";
import type { SessionProject } from "../../api/model.ts";
import { useProjectId, useSession } from "../../api/session.ts";
import { readTab, writeTab } from "../../lib/tab-storage.ts";
import { Drawer } from "../../ui/drawer.tsx";
import { useHasMenu } from "../../ui/hooks/use-width.ts";
import { AccessEndedPage, InShell, NotFoundPage } from "../fallbacks.tsx";
import { AccountMenu } from "./account-menu.tsx";
import { JumpBox } from "./jump-box.tsx";
import { KeyboardHelp } from "./keyboard-help.tsx";
import { LiveToggle } from "./live-toggle.tsx";
import { ProjectNav } from "./project-nav.tsx";
import { ProjectSwitcher } from "./project-switcher.tsx";
import { QuarantineNotice } from "./quarantine/quarantine-notice.tsx";
import classes from "./shell.module.css";
import { ThemeMenu } from "./theme-menu.tsx";

const HEADER_HEIGHT = 60;
const NAV_WIDTH = 244;

interface ShellProps {
	/** The project in the menu: the current one, or the last one outside of projects. */
	project: SessionProject | undefined;
	search?: ReactNode;
}

/** The frame of every page for signed-in users: navigation on the left, jump box, theme and account on top. */
function Shell({ project, search }: ShellProps) {
	const { pathname } = useLocation();
	const hasMenu = useHasMenu();
	// The page on which the menu was opened; it closes when the page changes, or the window becomes wide.
	const [openedOn, setOpenedOn] = useState<string | null>(null);
	const navOpened = openedOn === pathname && !hasMenu;
	const close = () => setOpenedOn(null);
	const [helpOpened, help] = useDisclosure(false);
	const nav = (
		<>
			<ProjectSwitcher current={project} />
			{project === undefined ? null : <ProjectNav project={project} />}
		</>
	);
	return (
		<AppShell
			layout="alt"
			header={{ height: HEADER_HEIGHT }}
			navbar={{ width: NAV_WIDTH, breakpoint: "sm", collapsed: { mobile: true } }}
			classNames={{ root: classes.root, header: classes.header, navbar: classes.navbar, main: classes.main }}
		>
			<a className={classes.skip} href="#content">
				Skip to the page
			</a>
			<AppShell.Navbar aria-label="Pages" visibleFrom="sm">
				{nav}
			</AppShell.Navbar>
			<Drawer opened={navOpened} onClose={close} position="left" size={284} title="Menu" hiddenFrom="sm">
				<nav aria-label="Pages">{nav}</nav>
			</Drawer>
			<AppShell.Header>
				<Group h="100%" px={{ base: "sm", sm: "lg" }} gap="sm" wrap="nowrap">
					<Burger
						opened={navOpened}
						onClick={() => setOpenedOn(navOpened ? null : pathname)}
						hiddenFrom="sm"
						size="sm"
						aria-label={navOpened ? "Close the menu" : "Open the menu"}
					/>
					<div className={classes.search}>{search}</div>
					<Group gap={6} wrap="nowrap">
						<ThemeMenu />
						<AccountMenu onHelp={help.open} />
					</Group>
				</Group>
			</AppShell.Header>
			<AppShell.Main id="content" tabIndex={-1}>
				<QuarantineNotice />
				<InShell value={true}>
					<Outlet />
				</InShell>
			</AppShell.Main>
			<KeyboardHelp opened={helpOpened} onOpen={help.open} onClose={help.close} />
		</AppShell>
	);
}

/** Where a tab keeps the project that it shows, for pages outside of projects. */
const LAST_PROJECT = "posthorn-last-project";

/** Wraps pages outside of a project: the list of projects, the account. Its menu leads back to the last project. */
export function SignedInShell() {
	const { projects } = useSession();
	return <Shell project={projects.find(({ id }) => id === readTab(LAST_PROJECT))} />;
}

/** Wraps a project's pages, which update live. */
export function ProjectShell() {
	const projectId = useProjectId();
	const project = useSession().projects.find(({ id }) => id === projectId);
	const [last, setLast] = useState(project);
	if (project !== undefined && project !== last) setLast(project);
	useEffect(() => void writeTab(LAST_PROJECT, projectId), [projectId]);
	if (project === undefined) return last?.id === projectId ? <AccessEndedPage project={last} /> : <NotFoundPage />;
	return (
		<LiveProvider key={projectId} projectId={projectId} enabled={project.apps.includes("developer")}>
			<Shell
				project={project}
				search={
					<Group gap="xs" wrap="nowrap">
						<JumpBox />
						<LiveToggle />
					</Group>
				}
			/>
		</LiveProvider>
	);
}
