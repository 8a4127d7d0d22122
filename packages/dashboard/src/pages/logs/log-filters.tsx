import { Button, Kbd, Select, TextInput } from "@mantine/core";
import { IconSearch, IconX } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { ATTEMPT_STATUSES } from "../../api/attempts.ts";
import { eventTypesQuery } from "../../api/event-types.ts";
import type { Webhook } from "../../api/webhooks.ts";
import { webhookName } from "../../lib/health.ts";
import { jumpTarget } from "../../lib/ids.ts";
import { useNow } from "../../ui/use-now.ts";
import { useShortcuts } from "../../ui/use-shortcuts.ts";
import { filterChips, type NameOf, STATUS_LABELS } from "./filter-words.ts";
import classes from "./log-filters.module.css";
import { type LogsSearch, without } from "./search.ts";
import { TimeFilter } from "./time-filter.tsx";

export interface LogFiltersProps {
	search: LogsSearch;
	onChange: (search: LogsSearch) => void;
	onOpenAttempt: (attemptId: string) => void;
	webhooks: readonly Webhook[] | undefined;
	nameOf: NameOf;
}

/** The log's filters: fields, and a chip for each active one. */
export function LogFilters({ search, onChange, onOpenAttempt, webhooks = [], nameOf }: LogFiltersProps) {
	const { data: types = [] } = useQuery(eventTypesQuery);
	const { webhook_id, type } = search;
	const typeNames = types.map((entry) => entry.type);
	const webhookOptions = webhooks.map((webhook) => ({ value: webhook.id, label: webhookName(webhook) }));
	if (webhook_id !== undefined && !webhooks.some(({ id }) => id === webhook_id)) {
		webhookOptions.push({ value: webhook_id, label: nameOf(webhook_id) });
	}
	return (
		<search className={classes.filters} aria-label="Filters">
			<IdField search={search} onChange={onChange} onOpenAttempt={onOpenAttempt} />
			<Select
				className={classes.field}
				aria-label="Webhook"
				data={[{ value: "", label: "All webhooks" }, ...webhookOptions]}
				value={webhook_id ?? ""}
				allowDeselect={false}
				onChange={(id) => onChange({ ...without(search, "webhook_id"), ...(id ? { webhook_id: id } : {}) })}
			/>
			<Select
				className={`${classes.field} ${classes.wide}`}
				aria-label="Event type"
				data={[
					{ value: "", label: "All event types" },
					...(type === undefined || typeNames.includes(type) ? typeNames : [...typeNames, type]),
				]}
				value={type ?? ""}
				allowDeselect={false}
				onChange={(name) => onChange({ ...without(search, "type"), ...(name ? { type: name } : {}) })}
			/>
			<Select
				className={classes.field}
				aria-label="Outcome"
				data={[
					{ value: "", label: "All outcomes" },
					...ATTEMPT_STATUSES.map((value) => ({ value, label: STATUS_LABELS[value] })),
				]}
				value={search.status ?? ""}
				allowDeselect={false}
				onChange={(value) => {
					const status = ATTEMPT_STATUSES.find((one) => one === value);
					onChange({ ...without(search, "status"), ...(status === undefined ? {} : { status }) });
				}}
			/>
			<TimeFilter search={search} onChange={onChange} />
			<FilterChips search={search} onChange={onChange} nameOf={nameOf} />
		</search>
	);
}

const NO_ID = "Paste an id that starts with evt_, att_ or wh_.";

/** Finds an event, an attempt or a webhook by its id. `/` focuses it. */
export function IdField({ search, onChange, onOpenAttempt }: Omit<LogFiltersProps, "webhooks" | "nameOf">) {
	const field = useRef<HTMLInputElement>(null);
	const [text, setText] = useState("");
	const [problem, setProblem] = useState<string | null>(null);
	useShortcuts({ "/": () => field.current?.focus() }, { first: true });
	const find = () => {
		const { kind, id } = jumpTarget(text);
		if (id === "") return;
		if (kind === "event") onChange({ ...search, event_id: id });
		else if (kind === "webhook") onChange({ ...search, webhook_id: id });
		else if (kind === "attempt") onOpenAttempt(id);
		else return setProblem(NO_ID);
		setText("");
	};
	return (
		<form
			className={classes.find}
			onSubmit={(event) => {
				event.preventDefault();
				find();
			}}
		>
			<TextInput
				ref={field}
				aria-label="Find by event id"
				placeholder="Event id"
				leftSection={<IconSearch size={16} aria-hidden />}
				rightSection={
					<Kbd size="xs" visibleFrom="sm">
						{text === "" ? "/" : "↵"}
					</Kbd>
				}
				rightSectionPointerEvents="none"
				value={text}
				error={problem}
				onChange={(event) => {
					setText(event.currentTarget.value);
					setProblem(null);
				}}
				onBlur={() => setProblem(null)}
				onKeyDown={(event) => {
					if (event.key === "Escape") field.current?.blur();
				}}
				autoComplete="off"
				spellCheck={false}
			/>
		</form>
	);
}

function FilterChips({ search, onChange, nameOf }: Pick<LogFiltersProps, "search" | "onChange" | "nameOf">) {
	const now = useNow(0);
	const chips = filterChips(search, nameOf, now);
	if (chips.length === 0) return null;
	return (
		<ul className={classes.chips} aria-label="Active filters">
			{chips.map(({ name, label }) => (
				<li key={name}>
					<button
						type="button"
						className={classes.chip}
						aria-label={`Remove the filter ${label}`}
						onClick={() => onChange(without(search, name))}
					>
						{label}
						<IconX size={13} stroke={2.2} aria-hidden />
					</button>
				</li>
			))}
			<li>
				<Button variant="subtle" size="compact-sm" onClick={() => onChange({})}>
					Clear
				</Button>
			</li>
		</ul>
	);
}
