import { Divider, Popover, Text, UnstyledButton } from "@mantine/core";
import { IconCheck, IconLayoutGrid, IconSelector } from "@tabler/icons-react";
import { Link, useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useState } from "react";
import type { SessionProject } from "../../api/model.ts";
import { useSession } from "../../api/session.ts";
import { ROLE_WORDS } from "../../lib/account/roles.ts";
import { stepIndex } from "../../lib/keyboard.ts";
import { matchSentence } from "../../lib/text/numbers.ts";
import { findProjects, MANY_PROJECTS } from "../../pages/projects/search.ts";
import { useProjects } from "../../pages/projects/use-projects.ts";
import { FindField } from "../../ui/find-field.tsx";
import { Mark } from "../../ui/logo.tsx";
import nav from "./project-nav.module.css";
import classes from "./project-switcher.module.css";

interface CurrentProps {
	current: SessionProject | undefined;
}

/** The current project, or the last one outside of projects, and links to others. */
export function ProjectSwitcher({ current }: CurrentProps) {
	const [opened, setOpened] = useState(false);
	return (
		<Popover
			opened={opened}
			onChange={setOpened}
			position="bottom-start"
			width={260}
			shadow="md"
			trapFocus
			returnFocus
			// It would have the button's name.
			withRoles={false}
		>
			<Popover.Target>
				<UnstyledButton
					className={classes.switcher}
					aria-haspopup="dialog"
					aria-expanded={opened}
					onClick={() => setOpened(!opened)}
				>
					<Mark size={32} />
					<span className={classes.names}>
						<span className={classes.brand}>Posthorn</span>
						<span className={classes.project}>{current?.name ?? "Choose a project"}</span>
					</span>
					<IconSelector size={16} aria-hidden />
				</UnstyledButton>
			</Popover.Target>
			<Popover.Dropdown p={4} role="dialog" aria-label="Projects" onKeyDown={moveFocus}>
				<Projects current={current} onLeave={() => setOpened(false)} />
			</Popover.Dropdown>
		</Popover>
	);
}

/** The arrows move the focus between the field and the links. */
function moveFocus(event: KeyboardEvent<HTMLElement>): void {
	const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
	if (by === undefined) return;
	event.preventDefault();
	const stops = [...event.currentTarget.querySelectorAll<HTMLElement>("input, a")];
	const at = stops.indexOf(document.activeElement as HTMLElement);
	stops[stepIndex(at === -1 ? null : at, by as 1 | -1, stops.length) ?? 0]?.focus();
}

/** Escape closes only this, not the menu around it on phones. */
const OWN_KEYS = { "data-mantine-stop-propagation": true };

function Projects({ current, onLeave }: CurrentProps & { onLeave: () => void }) {
	const { projects } = useSession();
	const navigate = useNavigate();
	const [text, setText] = useState("");
	const { rows: all = projects, hasMore } = useProjects(text !== "");
	const found = text === "" ? projects : findProjects(all, text);
	const open = (id: string) => {
		onLeave();
		void navigate({ to: "/p/$projectId", params: { projectId: id } });
	};
	return (
		<>
			{projects.length <= MANY_PROJECTS ? null : (
				<form
					onSubmit={(event) => {
						event.preventDefault();
						if (text !== "" && found[0] !== undefined) open(found[0].id);
					}}
				>
					<FindField
						size="xs"
						m={4}
						aria-label="Find a project"
						placeholder="Name or id"
						value={text}
						onChange={setText}
						data-autofocus
						{...OWN_KEYS}
					/>
				</form>
			)}
			<Text className={classes.found} aria-live="polite">
				{text === "" ? "" : hasMore ? "Searching …" : matchSentence(found.length, all.length, "project")}
			</Text>
			<ul className={`${nav.list} ${classes.list}`}>
				{found.map(({ id, name, role }) => (
					<li key={id}>
						<Link className={nav.link} to="/p/$projectId" params={{ projectId: id }} onClick={onLeave} {...OWN_KEYS}>
							<span className={classes.names}>
								<span className={classes.project}>{name}</span>
								<span className={classes.brand}>{ROLE_WORDS[role].label}</span>
							</span>
							{id === current?.id ? <IconCheck size={16} aria-label="Current" /> : null}
						</Link>
					</li>
				))}
			</ul>
			{projects.length === 0 ? null : <Divider my={4} />}
			<Link className={nav.link} to="/projects" onClick={onLeave} {...OWN_KEYS}>
				<IconLayoutGrid size={16} aria-hidden />
				All projects
			</Link>
		</>
	);
}
