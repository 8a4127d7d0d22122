import { Button, Checkbox, MultiSelect } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { eventTypesQuery } from "../../api/event-types.ts";
import { webhookName } from "../../lib/health.ts";
import { ERROR_LABELS } from "../../lib/health-words.ts";
import classes from "./log-filters.module.css";
import { IdField, type LogFiltersProps } from "./log-filters.tsx";
import { deliveryFilter, isFiltered, STATES, withDeliveryFilter } from "./search.ts";
import { TimeFilter } from "./time-filter.tsx";

const STATE_LABELS = { delivered: "Delivered", waiting: "Waiting for a retry", failed: "Failed" } as const;
const RESPONSES = [
	{
		group: "Status",
		items: ["2xx", "3xx", "4xx", "5xx", "400", "401", "403", "404", "408", "410", "429", "500", "502", "503", "504"],
	},
	{ group: "No response", items: Object.entries(ERROR_LABELS).map(([value, label]) => ({ value, label })) },
];

/** The filters of the list of deliveries: each takes several values. */
export function DeliveryFilters({ search, onChange, onOpenAttempt, webhooks = [], nameOf }: LogFiltersProps) {
	const { data: types = [] } = useQuery(eventTypesQuery);
	const filter = deliveryFilter(search);
	const { webhook_id = [], type = [], state = [], status_code = [], error = [] } = filter;
	const webhookOptions = webhooks.map((webhook) => ({ value: webhook.id, label: webhookName(webhook) }));
	for (const id of webhook_id)
		if (!webhooks.some((webhook) => webhook.id === id)) webhookOptions.push({ value: id, label: nameOf(id) });
	const set = (change: Parameters<typeof withDeliveryFilter>[1]) => onChange(withDeliveryFilter(search, change));
	const none = (chosen: readonly unknown[], placeholder: string) => (chosen.length === 0 ? { placeholder } : {});
	return (
		<search className={classes.filters} aria-label="Filters">
			<IdField search={search} onChange={onChange} onOpenAttempt={onOpenAttempt} />
			<MultiSelect
				className={classes.field}
				aria-label="Webhooks"
				{...none(webhook_id, "All webhooks")}
				data={webhookOptions}
				maxValues={10}
				value={[...webhook_id]}
				onChange={(ids) => set({ webhook_id: ids })}
				searchable
				clearable
			/>
			<MultiSelect
				className={`${classes.field} ${classes.wide}`}
				aria-label="Event types"
				{...none(type, "All event types")}
				data={types.map((entry) => entry.type)}
				value={[...type]}
				onChange={(names) => set({ type: names })}
				searchable
				clearable
			/>
			<MultiSelect
				className={classes.field}
				aria-label="States"
				{...none(state, "All states")}
				data={STATES.map((value) => ({ value, label: STATE_LABELS[value] }))}
				value={[...state]}
				onChange={(names) => set({ state: names })}
				clearable
			/>
			<MultiSelect
				className={classes.field}
				aria-label="Responses"
				{...none([...status_code, ...error], "All responses")}
				data={RESPONSES}
				maxValues={20}
				value={[...status_code, ...error]}
				onChange={(values) => set({ response: values })}
				searchable
				clearable
			/>
			<TimeFilter search={search} onChange={onChange} />
			<Checkbox
				className={classes.check}
				size="xs"
				label="Only what needs a decision"
				checked={filter.unhandled === "true"}
				onChange={(event) => set({ unhandled: event.currentTarget.checked })}
			/>
			{search.event_id === undefined ? null : (
				<Button
					variant="default"
					size="compact-sm"
					onClick={() => {
						const { event_id: _, ...rest } = search;
						onChange(rest);
					}}
				>
					Event {search.event_id.slice(-6)} ×
				</Button>
			)}
			{isFiltered(search) ? (
				<Button variant="subtle" size="compact-sm" onClick={() => onChange({})}>
					Clear
				</Button>
			) : null}
		</search>
	);
}
