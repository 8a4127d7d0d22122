import { Button, Checkbox, MultiSelect, Text } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { eventTypesQuery } from "../../../api/event-types.ts";
import type { DeletedWebhook, Webhook } from "../../../api/webhooks.ts";
import { ATTEMPT_STATUSES, ERROR_LABELS } from "../../../lib/attempts/attempt-words.ts";
import { deletedName, webhookName } from "../../../lib/health/webhook-name.ts";
import { toldApart } from "../../../lib/text/ids.ts";
import {
	fullFilters,
	isFiltered,
	type ListName,
	type LogsSearch,
	maxValues,
	STATES,
	valuesOf,
	viewOf,
	withUnhandled,
	withValues,
} from "../search.ts";
import { filterChips, type NameOf, STATUS_LABELS } from "./filter-words.ts";
import classes from "./log-filters.module.css";
import { SearchField } from "./search-field.tsx";
import { TimeFilter } from "./time-filter.tsx";

export interface LogFiltersProps {
	search: LogsSearch;
	onChange: (search: LogsSearch) => void;
	onOpenAttempt: (attemptId: string) => void;
	webhooks: readonly Webhook[] | undefined;
	deleted: readonly DeletedWebhook[] | undefined;
	nameOf: NameOf;
}

const STATE_LABELS = { delivered: "Delivered", waiting: "Waiting", failed: "Failed" } as const;
/** What the filters that the API combines select. */
const COMBINED = { webhook_id: "webhooks", type: "event types", state: "states", status: "outcomes" } as const;
/** How many webhooks are offered; others are found by typing. */
const OPTIONS = 100;
const RESPONSES = [
	{
		group: "Status",
		items: ["2xx", "3xx", "4xx", "5xx", "400", "401", "403", "404", "408", "410", "429", "500", "502", "503", "504"],
	},
	{ group: "No response", items: Object.entries(ERROR_LABELS).map(([value, label]) => ({ value, label })) },
];

/** The log's filters: fields that take several values, and a chip for each value that has no field. */
export function LogFilters({ search, onChange, onOpenAttempt, webhooks = [], deleted = [], nameOf }: LogFiltersProps) {
	const { data: types = [] } = useQuery(eventTypesQuery);
	const isOfAttempts = viewOf(search) === "attempts";
	const webhookOptions = webhooks.map((webhook) => ({ value: webhook.id, label: webhookName(webhook) }));
	// While the lists are refetched, one may be in both, but an option must not occur twice.
	const existing = new Set(webhooks.map(({ id }) => id));
	for (const webhook of deleted)
		if (!existing.has(webhook.id)) webhookOptions.push({ value: webhook.id, label: deletedName(webhook) });
	for (const id of valuesOf(search, "webhook_id"))
		if (!webhookOptions.some(({ value }) => value === id)) webhookOptions.push({ value: id, label: nameOf(id) });
	const full = fullFilters(search).map((name) => COMBINED[name]);
	const field = (name: ListName, all: string) => {
		const value = [...valuesOf(search, name)];
		return {
			className: classes.field,
			value,
			onChange: (values: string[]) => onChange(withValues(search, name, values)),
			maxValues: maxValues(search, name),
			clearable: true,
			...(value.length === 0 ? { placeholder: all } : {}),
		};
	};
	return (
		<search className={classes.filters} aria-label="Filters">
			<SearchField search={search} onChange={onChange} onOpenAttempt={onOpenAttempt} />
			<MultiSelect
				{...field("webhook_id", "All webhooks")}
				aria-label="Webhooks"
				data={toldApart(webhookOptions)}
				limit={OPTIONS}
				searchable
			/>
			<MultiSelect
				{...field("type", "All event types")}
				className={`${classes.field} ${classes.wide}`}
				aria-label="Event types"
				data={types.map((entry) => entry.type)}
				searchable
			/>
			{isOfAttempts ? (
				<MultiSelect
					{...field("status", "All outcomes")}
					aria-label="Outcomes"
					data={ATTEMPT_STATUSES.map((value) => ({ value, label: STATUS_LABELS[value] }))}
				/>
			) : (
				<MultiSelect
					{...field("state", "All states")}
					aria-label="States"
					data={STATES.map((value) => ({ value, label: STATE_LABELS[value] }))}
				/>
			)}
			<MultiSelect {...field("response", "All responses")} aria-label="Responses" data={RESPONSES} searchable />
			<TimeFilter search={search} onChange={onChange} />
			{isOfAttempts ? null : (
				<Checkbox
					className={classes.check}
					size="xs"
					label="Only what needs a decision"
					checked={search.unhandled === true}
					onChange={(event) => onChange(withUnhandled(search, event.currentTarget.checked))}
				/>
			)}
			{full.length === 0 ? null : (
				<Text className={classes.full} size="xs" c="dimmed" role="status">
					No more {full.join(" or ")} can be added to these filters. Remove one to choose another.
				</Text>
			)}
			<Chips search={search} onChange={onChange} />
		</search>
	);
}

function Chips({ search, onChange }: Pick<LogFiltersProps, "search" | "onChange">) {
	if (!isFiltered(search)) return null;
	return (
		<ul className={classes.chips} aria-label="Active filters">
			{filterChips(search).map(({ label, without }) => (
				<li key={label}>
					<button
						type="button"
						className={classes.chip}
						aria-label={`Remove the filter ${label}`}
						onClick={() => onChange(without)}
					>
						{label}
						<IconX size={13} stroke={2.2} aria-hidden />
					</button>
				</li>
			))}
			<li>
				<Button className={classes.clear} variant="subtle" size="compact-sm" onClick={() => onChange({})}>
					Clear
				</Button>
			</li>
		</ul>
	);
}
