import { Menu, Text, UnstyledButton } from "@mantine/core";
import { IconCheck, IconLayoutGrid, IconSelector } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import type { SessionProject } from "../../api/model.ts";
import { useSession } from "../../api/session.ts";
import { ROLE_WORDS } from "../../lib/account/roles.ts";
import { Mark } from "../../ui/logo.tsx";
import classes from "./project-switcher.module.css";

/** The current project, or the last one outside of projects, and links to others. */
export function ProjectSwitcher({ current }: { current: SessionProject | undefined }) {
	const { projects } = useSession();
	return (
		<Menu position="bottom-start" width={260} shadow="md">
			<Menu.Target>
				<UnstyledButton className={classes.switcher}>
					<Mark size={32} />
					<span className={classes.names}>
						<span className={classes.brand}>Posthorn</span>
						<span className={classes.project}>{current?.name ?? "Choose a project"}</span>
					</span>
					<IconSelector size={16} aria-hidden />
				</UnstyledButton>
			</Menu.Target>
			<Menu.Dropdown>
				{projects.length === 0 ? null : <Menu.Label>Projects</Menu.Label>}
				<div className={classes.list}>
					{projects.map(({ id, name, role }) => (
						<Menu.Item
							key={id}
							component={Link}
							to={`/p/${id}`}
							rightSection={id === current?.id ? <IconCheck size={16} aria-label="Current" /> : null}
						>
							<Text size="sm" fw={550} truncate>
								{name}
							</Text>
							<Text size="xs" c="dimmed">
								{ROLE_WORDS[role].label}
							</Text>
						</Menu.Item>
					))}
				</div>
				{projects.length === 0 ? null : <Menu.Divider />}
				<Menu.Item component={Link} to="/projects" leftSection={<IconLayoutGrid size={16} aria-hidden />}>
					All projects
				</Menu.Item>
			</Menu.Dropdown>
		</Menu>
	);
}
