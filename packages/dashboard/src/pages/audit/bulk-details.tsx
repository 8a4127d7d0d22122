import { useQuery } from "@tanstack/react-query";
import { Fragment } from "react";
import { deliveryKey } from "../../api/deliveries.ts";
import { useProjectId } from "../../api/session.ts";
import { deletedWebhooksQuery, webhooksQuery } from "../../api/webhooks.ts";
import { type AuditEntry, deliveriesIn } from "../../lib/account/audit.ts";
import { shortId } from "../../lib/text/ids.ts";
import { formatCount, plural } from "../../lib/text/numbers.ts";
import { useNow } from "../../ui/hooks/use-now.ts";
import { AnchorLink } from "../../ui/links.tsx";
import { filterPhrase, type NameOf } from "../logs/filters/filter-words.ts";
import type { LogsSearch } from "../logs/search.ts";
import { useNames } from "../logs/use-log-page.ts";
import classes from "./audit.module.css";
import { type AuditedFilter, auditedFilterOf, deliveriesSearch, isMore } from "./audited-filter.ts";

/** The webhook of an action on one delivery, whose target is only the event; nothing for other actions. */
export function DeliveryWebhook({ entry: { target, detail } }: { entry: AuditEntry }) {
	return target?.kind === "event" && typeof detail.webhook_id === "string" ? (
		<To webhookId={detail.webhook_id} />
	) : null;
}

function To({ webhookId }: { webhookId: string }) {
	return <> to {useWebhookNames()(webhookId)}</>;
}

/** Which deliveries a bulk action was about; nothing for other actions. */
export function BulkDetails({ entry }: { entry: AuditEntry }) {
	const filter = auditedFilterOf(entry.detail);
	if (filter === null && deliveriesIn(entry).length === 0) return null;
	return <Details entry={entry} filter={filter} />;
}

const NO_URL = () => undefined;

function useWebhookNames(): NameOf {
	const projectId = useProjectId();
	const { data: webhooks } = useQuery(webhooksQuery(projectId));
	const { data: deleted } = useQuery(deletedWebhooksQuery(projectId));
	return useNames({ webhooks, deleted }, NO_URL).nameOf;
}

function Details({ entry, filter }: { entry: AuditEntry; filter: AuditedFilter | null }) {
	const nameOf = useWebhookNames();
	return (
		<div className={classes.which}>
			{filter === null ? (
				<Named entry={entry} nameOf={nameOf} />
			) : (
				<Filtered action={entry.action} filter={filter} nameOf={nameOf} />
			)}
		</div>
	);
}

/** The first deliveries of a selection. */
function Named({ entry, nameOf }: { entry: AuditEntry; nameOf: NameOf }) {
	const deliveries = deliveriesIn(entry);
	const { count } = entry.detail;
	const more = typeof count === "number" ? count - deliveries.length : 0;
	return (
		<>
			{deliveries.map(({ webhook_id, event_id }, index) => (
				<Fragment key={deliveryKey({ webhook_id, event_id })}>
					{index === 0 ? "" : ", "}
					<LogLink title={event_id} search={{ event_id, webhook_id }}>
						{shortId(event_id)}
					</LogLink>
					{/* Otherwise the sentence names it. */}
					{entry.target === null ? ` to ${nameOf(webhook_id)}` : ""}
				</Fragment>
			))}
			{more > 0 ? ` and ${formatCount(more)} more` : ""}
		</>
	);
}

interface FilteredProps {
	action: string;
	filter: AuditedFilter;
	nameOf: NameOf;
}

/** What a filter selected. */
function Filtered({ action, filter: { search, customers, isWhole }, nameOf }: FilteredProps) {
	const now = useNow(0);
	const phrase = filterPhrase(search, (id) => (isMore(id) ? id : nameOf(id)), now);
	const who = customers === 0 ? "" : `of ${plural(customers, "customer")}`;
	const words = [phrase, who].filter((part) => part !== "").join(", ");
	return (
		<>
			{words === "" ? "Without filters." : `Those ${words}.`}{" "}
			{isWhole ? <LogLink search={deliveriesSearch(search, action)}>See them in the log</LogLink> : null}
		</>
	);
}

interface LogLinkProps {
	search: LogsSearch;
	title?: string;
	children: string;
}

function LogLink({ search, ...link }: LogLinkProps) {
	return (
		<AnchorLink
			inherit
			underline="always"
			to="/p/$projectId/logs"
			params={{ projectId: useProjectId() }}
			search={search}
			{...link}
		/>
	);
}
