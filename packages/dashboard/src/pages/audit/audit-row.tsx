import { IconKey } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useProjectId } from "../../api/session.ts";
import { webhooksQuery } from "../../api/webhooks.ts";
import { type AuditEntry, auditSentence } from "../../lib/account/audit.ts";
import { Initials } from "../../ui/account/initials.tsx";
import { AnchorLink } from "../../ui/links.tsx";
import { When } from "../../ui/when.tsx";
import classes from "./audit.module.css";
import { BulkDetails, DeliveryWebhook } from "./bulk-details.tsx";

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
				{target === null ? null : <Target name={target} target={thing} />}
				<DeliveryWebhook entry={entry} />
				{after}.
				<BulkDetails entry={entry} />
			</div>
			<span className={classes.when}>
				<When at={entry.at} clock />
			</span>
		</li>
	);
}

/** The target's name. Events and existing webhooks are linked; other ids are only shown on hover, as most lead nowhere. */
function Target({ name, target }: { name: string; target: AuditEntry["target"] }) {
	const projectId = useProjectId();
	const { data: webhooks } = useQuery(webhooksQuery(projectId));
	const { kind, id } = target ?? { kind: "", id: null };
	if (kind === "event" && id !== null)
		return (
			<AnchorLink inherit fw={600} to="/p/$projectId/logs" params={{ projectId }} search={{ event_id: id }}>
				{name}
			</AnchorLink>
		);
	const exists = kind === "webhook" && webhooks?.some((webhook) => webhook.id === id) === true;
	if (!exists || id === null) return <strong title={id ?? undefined}>{name}</strong>;
	return (
		<AnchorLink
			inherit
			fw={600}
			to="/p/$projectId/webhooks/$webhookId"
			params={{ projectId, webhookId: id }}
			search={{}}
		>
			{name}
		</AnchorLink>
	);
}
