import {
	IconActivity,
	IconApps,
	IconHistory,
	IconKey,
	IconLayoutDashboard,
	IconUsers,
	IconWebhook,
} from "@tabler/icons-react";
import { Link, type LinkProps } from "@tanstack/react-router";
import { type ComponentType, useId } from "react";
import type { SessionProject } from "../../api/model.ts";
import { mayAct } from "../../lib/account/roles.ts";
import classes from "./project-nav.module.css";

interface Entry {
	readonly to: NonNullable<LinkProps["to"]>;
	readonly label: string;
	readonly Icon: ComponentType<{ size: number; stroke: number; "aria-hidden": true }>;
	/** Only for exactly this address, because every other one begins with it. */
	readonly exact?: true;
}

const MAIN: readonly Entry[] = [
	{ to: "/p/$projectId", label: "Overview", Icon: IconLayoutDashboard, exact: true },
	{ to: "/p/$projectId/apps", label: "Apps", Icon: IconApps },
];
const DEVELOPER: readonly Entry[] = [
	{ to: "/p/$projectId/webhooks", label: "Webhooks", Icon: IconWebhook },
	{ to: "/p/$projectId/api-keys", label: "API Keys", Icon: IconKey },
	{ to: "/p/$projectId/logs", label: "Logs", Icon: IconActivity },
];
const MEMBERS: Entry = { to: "/p/$projectId/members", label: "Members", Icon: IconUsers };
const AUDIT: Entry = { to: "/p/$projectId/audit", label: "Audit log", Icon: IconHistory };

/** Links to the project's pages. An app's pages need the app, and the audit log needs the owner role. */
export function ProjectNav({ project: { id, apps, role } }: { project: SessionProject }) {
	return (
		<div className={classes.nav}>
			<Group entries={MAIN} projectId={id} />
			{apps.includes("developer") ? <Group title="Developer" entries={DEVELOPER} projectId={id} /> : null}
			<Group title="Settings" entries={mayAct(role, "owner") ? [MEMBERS, AUDIT] : [MEMBERS]} projectId={id} />
		</div>
	);
}

function Group({ title, entries, projectId }: { title?: string; entries: readonly Entry[]; projectId: string }) {
	const titleId = useId();
	return (
		<div>
			{title === undefined ? null : (
				<div className={classes.title} id={titleId}>
					{title}
				</div>
			)}
			<ul className={classes.list} aria-labelledby={title === undefined ? undefined : titleId}>
				{entries.map(({ to, label, Icon, exact = false }) => (
					<li key={label}>
						<Link
							className={classes.link}
							to={to}
							params={{ projectId }}
							activeOptions={{ exact, includeSearch: false }}
						>
							<Icon size={18} stroke={1.7} aria-hidden />
							{label}
						</Link>
					</li>
				))}
			</ul>
		</div>
	);
}
