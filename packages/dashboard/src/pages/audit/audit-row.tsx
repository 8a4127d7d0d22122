import { IconKey } from "@tabler/icons-react";
import { type AuditEntry, auditSentence } from "../../lib/audit.ts";
import { Ident } from "../../ui/ident.tsx";
import { Initials } from "../../ui/initials.tsx";
import { When } from "../../ui/when.tsx";
import classes from "./audit.module.css";

/** One entry as a sentence. */
export function AuditRow({ entry }: { entry: AuditEntry }) {
	const { actor, before, target, after } = auditSentence(entry);
	const { target: thing } = entry;
	return (
		<li className={classes.row}>
			{entry.actor.kind === "account" ? (
				<Initials name={actor} size={30} />
			) : (
				<span className={classes.program}>
					<IconKey size={16} aria-hidden />
				</span>
			)}
			<div className={classes.text}>
				<strong>{actor}</strong> {before}
				{target === null ? null : <strong>{target}</strong>}
				{after}.
				{thing?.id === null || thing?.id === undefined || thing.kind === "app" ? null : (
					<div className={classes.id}>
						<Ident id={thing.id} />
					</div>
				)}
			</div>
			<span className={classes.when}>
				<When at={entry.at} clock />
			</span>
		</li>
	);
}
