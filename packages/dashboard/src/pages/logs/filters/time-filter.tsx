import { Button, Select, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { isSpan } from "../../../api/attempts.ts";
import { type LogsSearch, withoutTime } from "../search.ts";
import { endFromLocalField, fromLocalField, toLocalField } from "./local-time.ts";
import classes from "./log-filters.module.css";

const CUSTOM = "custom";

const CHOICES = [
	{ value: "", label: "Any time" },
	{ value: "hour", label: "Last hour" },
	{ value: "day", label: "Last 24 hours" },
	{ value: "week", label: "Last 7 days" },
	{ value: CUSTOM, label: "From … to …" },
];

interface TimeFilterProps {
	search: LogsSearch;
	onChange: (search: LogsSearch) => void;
}

/** When attempts began: a span before now, or a range of local times. */
export function TimeFilter({ search, onChange }: TimeFilterProps) {
	const { span, since, until } = search;
	const [asked, setAsked] = useState(false);
	const custom = asked || since !== undefined || until !== undefined;
	const choose = (value: string | null) => {
		setAsked(value === CUSTOM);
		if (value !== CUSTOM) onChange({ ...withoutTime(search), ...(isSpan(value) ? { span: value } : {}) });
	};
	return (
		<>
			<Select
				className={classes.field}
				aria-label="Time"
				data={CHOICES}
				value={custom ? CUSTOM : (span ?? "")}
				allowDeselect={false}
				onChange={choose}
			/>
			{custom ? (
				<FromTo
					key={`${since} ${until}`}
					search={search}
					onChange={(next) => {
						setAsked(false);
						onChange(next);
					}}
				/>
			) : null}
		</>
	);
}

function FromTo({ search, onChange }: TimeFilterProps) {
	const [problem, setProblem] = useState<string | null>(null);
	const apply = (event: FormEvent<HTMLFormElement>) => {
		event.preventDefault();
		const fields = new FormData(event.currentTarget);
		const since = fromLocalField(String(fields.get("since")), search.since);
		const until = endFromLocalField(String(fields.get("until")), search.until);
		if (since !== undefined && until !== undefined && since >= until) return setProblem("This is before the start.");
		onChange({
			...withoutTime(search),
			...(since === undefined ? {} : { since }),
			...(until === undefined ? {} : { until }),
		});
	};
	return (
		<form className={classes.times} onSubmit={apply}>
			<TextInput type="datetime-local" name="since" label="From" defaultValue={toLocalField(search.since)} />
			<TextInput
				type="datetime-local"
				name="until"
				label="To"
				defaultValue={toLocalField(search.until)}
				error={problem}
				onChange={() => setProblem(null)}
			/>
			<Button className={classes.apply} type="submit" variant="default">
				Apply
			</Button>
		</form>
	);
}
