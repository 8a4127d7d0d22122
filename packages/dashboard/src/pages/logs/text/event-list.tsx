import { Link } from "@tanstack/react-router";
import type { EventMatch } from "../../../api/events.ts";
import { useProjectId } from "../../../api/session.ts";
import { inertText } from "../../../lib/text/inert-text.ts";
import { Breakable } from "../../../ui/breakable.tsx";
import { Ident } from "../../../ui/ident.tsx";
import { When } from "../../../ui/when.tsx";
import classes from "./event-list.module.css";

/** Events that a search has found, by their bodies or by responses to them. Each links to its deliveries. */
export function EventList({ events, label }: { events: readonly EventMatch[]; label: string }) {
	const projectId = useProjectId();
	return (
		<ul aria-label={label}>
			{events.map(({ id, type, created_at, excerpt, attempt }) => (
				<li key={attempt?.id ?? id} className={classes.row}>
					<div className={classes.facts}>
						<When at={attempt?.started_at ?? created_at} />
						<Link className={classes.type} to="/p/$projectId/logs" params={{ projectId }} search={{ event_id: id }}>
							<Breakable name={type} />
						</Link>
						<Ident id={id} />
						{attempt === null ? null : (
							<Link
								className={classes.response}
								to="/p/$projectId/logs/$attemptId"
								params={{ projectId, attemptId: attempt.id }}
							>
								Response{attempt.status_code === null ? "" : ` ${attempt.status_code}`} from {new URL(attempt.url).host}
							</Link>
						)}
					</div>
					{excerpt === null ? null : (
						<code className={classes.excerpt}>
							{inertText(excerpt.before)}
							<mark className={classes.match}>{inertText(excerpt.match)}</mark>
							{inertText(excerpt.after)}
						</code>
					)}
				</li>
			))}
		</ul>
	);
}
