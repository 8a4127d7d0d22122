import { NativeSelect } from "@mantine/core";
import { outcomeWord } from "../../ui/deliveries/outcome.tsx";
import { FindField } from "../../ui/find-field.tsx";
import { validateWebhooksSearch, WEBHOOK_STATES, type WebhooksSearch } from "./search.ts";
import classes from "./webhooks-page.module.css";

interface WebhookFiltersProps {
	search: WebhooksSearch;
	onChange: (search: WebhooksSearch) => void;
}

const STATES = WEBHOOK_STATES.map((value) => ({ value, label: outcomeWord(value) }));

/** Finds webhooks in a long list. */
export function WebhookFilters({ search, onChange }: WebhookFiltersProps) {
	const { text = "", state } = search;
	return (
		<search className={classes.filters} aria-label="Filters">
			<FindField
				className={classes.find}
				aria-label="Find a webhook"
				placeholder="Name, URL or id"
				value={text}
				onChange={(sought) => onChange(validateWebhooksSearch({ ...search, text: sought }))}
			/>
			<NativeSelect
				aria-label="State"
				data={[{ value: "", label: "All states" }, ...STATES]}
				value={state ?? ""}
				onChange={(event) => onChange(validateWebhooksSearch({ ...search, state: event.currentTarget.value }))}
			/>
		</search>
	);
}
