import { type ComboboxItem, type ComboboxItemGroup, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { apiKeysQuery } from "../../api/api-keys.ts";
import { membersQuery } from "../../api/members.ts";
import { useProjectId } from "../../api/session.ts";
import { deletedWebhooksQuery, webhooksQuery } from "../../api/webhooks.ts";
import { type AuditEntry, actorName } from "../../lib/account/audit.ts";
import { deletedName, webhookName } from "../../lib/health/webhook-name.ts";
import { toldApart } from "../../lib/text/ids.ts";
import { isolated } from "../../lib/text/names.ts";
import classes from "./audit.module.css";
import type { AuditSearch } from "./search.ts";

/** How many are offered; others are found by typing. */
const OPTIONS = 100;
/** How the API calls the operator's key as an actor: it has no id. */
const OPERATOR_KEY = "operator_key";

interface AuditFiltersProps {
	search: AuditSearch;
	onChange: (search: AuditSearch) => void;
	/** What is shown: it names those that no list has any longer. */
	entries: readonly AuditEntry[];
}

/** Limits the audit log to one webhook, to one person or key, or to both. */
export function AuditFilters({ search, onChange, entries }: AuditFiltersProps) {
	const field = (name: keyof AuditSearch) => ({
		className: classes.field,
		classNames: { option: classes.option },
		value: search[name] ?? null,
		onChange: (value: string | null) => {
			const { [name]: _, ...others } = search;
			onChange(value === null ? others : { ...others, [name]: value });
		},
		limit: OPTIONS,
		clearable: true,
		searchable: true,
	});
	return (
		<search className={classes.filters} aria-label="Filters">
			<Select
				{...field("webhook_id")}
				aria-label="Webhook"
				placeholder="Everything"
				data={useWebhookOptions(search.webhook_id, entries)}
				nothingFoundMessage="No such webhook"
			/>
			<Select
				{...field("actor_id")}
				aria-label="Changed by"
				placeholder="Everyone"
				data={useActorOptions(search.actor_id, entries)}
				nothingFoundMessage="No such person or key"
			/>
		</search>
	);
}

function useWebhookOptions(chosen: string | undefined, entries: readonly AuditEntry[]) {
	const projectId = useProjectId();
	const { data: webhooks = [] } = useQuery(webhooksQuery(projectId));
	const { data: deleted = [] } = useQuery(deletedWebhooksQuery(projectId));
	// Entries come last: they may have an earlier name of a webhook.
	return optionsOf(chosen, [
		...webhooks.map((webhook) => ({ value: webhook.id, label: webhookName(webhook) })),
		...deleted.map((webhook) => ({ value: webhook.id, label: deletedName(webhook) })),
		...entries.flatMap(({ target }) =>
			target?.kind === "webhook" && target.id !== null
				? [{ value: target.id, label: isolated(target.name ?? target.id) }]
				: [],
		),
	]);
}

function useActorOptions(chosen: string | undefined, entries: readonly AuditEntry[]) {
	const projectId = useProjectId();
	const { data: members = [] } = useQuery(membersQuery(projectId));
	const { data: keys = [] } = useQuery(apiKeysQuery(projectId));
	return optionsOf(chosen, [
		...members.map(({ account_id, name, email }) => {
			return { value: account_id, label: isolated(name), group: "People", hint: email };
		}),
		...keys.map(({ id, name }) => ({ value: id, label: actorName({ kind: "api_key", id, name }), group: "Keys" })),
		{ value: OPERATOR_KEY, label: actorName({ kind: "operator_key", id: null, name: null }), group: "Keys" },
		...entries.flatMap(({ actor }) =>
			actor.id === null
				? []
				: [{ value: actor.id, label: actorName(actor), group: actor.kind === "account" ? "People" : "Keys" }],
		),
	]);
}

interface Option {
	readonly value: string;
	readonly label: string;
	/** The title above it; none by default. */
	readonly group?: string;
	/** Tells it apart from others with this label. */
	readonly hint?: string;
}

/** One option for each id, with its first label. The chosen id is one of them even if nothing names it. */
function optionsOf(chosen: string | undefined, named: readonly Option[]) {
	const options = new Map<string, Option>();
	for (const option of named) if (!options.has(option.value)) options.set(option.value, option);
	if (chosen !== undefined && !options.has(chosen)) options.set(chosen, { value: chosen, label: chosen });
	const groups = Map.groupBy(toldApart([...options.values()]), ({ group }) => group);
	return [...groups].flatMap<ComboboxItem | ComboboxItemGroup<ComboboxItem>>(([group, members]) => {
		// Mantine would mistake an option with a `group` for a group.
		const items = members.map(({ value, label }) => ({ value, label }));
		return group === undefined ? items : [{ group, items }];
	});
}
