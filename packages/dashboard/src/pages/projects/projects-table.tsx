import { ActionIcon, Text, Tooltip } from "@mantine/core";
import { IconPencil } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { ROLE_WORDS } from "../../lib/account/roles.ts";
import { Ident } from "../../ui/ident.tsx";
import { AnchorLink } from "../../ui/links.tsx";
import { type Column, DataTable } from "../../ui/page/data-table.tsx";
import { When } from "../../ui/when.tsx";
import classes from "./projects-table.module.css";
import { RenameDialog } from "./rename-dialog.tsx";
import type { FoundProjects } from "./use-found-projects.ts";
import type { ProjectRow } from "./use-projects.ts";
import { WebhooksCell } from "./webhooks-cell.tsx";

export function ProjectsTable({ rows, groups }: Pick<FoundProjects, "rows" | "groups">) {
	const navigate = useNavigate();
	const [renaming, setRenaming] = useState<ProjectRow | null>(null);
	const columns: readonly Column<ProjectRow>[] = [
		{
			key: "name",
			header: "Name",
			render: ({ id, name }) => (
				<AnchorLink
					to="/p/$projectId"
					params={{ projectId: id }}
					fw={600}
					c="var(--ph-text)"
					tabIndex={-1}
					className={classes.name}
				>
					{name}
				</AnchorLink>
			),
		},
		{
			key: "webhooks",
			header: "Webhooks",
			render: (project) => {
				const group = groups.get(project.id);
				return group === undefined ? null : <WebhooksCell project={project} group={group} />;
			},
		},
		{ key: "id", header: "Id", from: "md", render: ({ id }) => <Ident id={id} /> },
		{
			key: "apps",
			header: "Apps",
			render: ({ apps }) =>
				apps.includes("developer") ? (
					"Developer"
				) : (
					<Text span size="sm" c="dimmed">
						None yet
					</Text>
				),
		},
		{ key: "role", header: "Your role", from: "lg", render: ({ role }) => ROLE_WORDS[role].label },
		{
			key: "created",
			header: "Created",
			from: "lg",
			render: ({ created_at }) => (created_at === undefined ? null : <When at={created_at} />),
		},
		{
			key: "actions",
			header: "",
			align: "right",
			width: 60,
			render: (project) =>
				project.role === "owner" ? (
					<Tooltip label="Rename">
						<ActionIcon variant="default" aria-label={`Rename ${project.name}`} onClick={() => setRenaming(project)}>
							<IconPencil size={16} aria-hidden />
						</ActionIcon>
					</Tooltip>
				) : null,
		},
	];
	return (
		<>
			<DataTable
				label="Projects"
				columns={columns}
				rows={rows}
				rowKey={({ id }) => id}
				onOpen={({ id }) => void navigate({ to: "/p/$projectId", params: { projectId: id } })}
				cards
				dense
				minWidth={460}
			/>
			{renaming === null ? null : <RenameDialog project={renaming} onClose={() => setRenaming(null)} />}
		</>
	);
}
