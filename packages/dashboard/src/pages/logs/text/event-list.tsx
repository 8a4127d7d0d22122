import { Link } from "@tanstack/react-router";
import type { EventMatch } from "../../../api/events.ts";
import { useProjectId } from "../../../api/session.ts";
import { Ident } from "../../../ui/ident.tsx";
import { When } from "../../../ui/when.tsx";
import classes from "./event-list.module.css";

/** Events that a search has found. Each links to its deliveries. */
export function EventList({ events, label }: { events: readonly EventMatch[]; label: string }) {
	const projectId = useProjectId();
	return (
		<ul className={classes.list} aria-label={label}>
			{events.map(({ id, type, created_at, excerpt }) => (
				<li key={id} className={classes.row}>
					<div className={classes.facts}>
						<When at={created_at} />
						<Link className={classes.type} to="/p/$projectId/logs" params={{ projectId }} search={{ event_id: id }}>
							{type}
						</Link>
						<Ident id={id} />
					</div>
					{excerpt === null ? null : (
						<code className={classes.excerpt}>
							{excerpt.before}
							<mark className={classes.match}>{excerpt.match}</mark>
							{excerpt.after}
						</code>
					)}
				</li>
			))}
		</ul>
	);
}
