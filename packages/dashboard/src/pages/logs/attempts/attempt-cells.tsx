import { Checkbox } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { memo } from "react";
import type { AttemptSummary } from "../../../api/attempts.ts";
import { useProjectId } from "../../../api/session.ts";
import { formatMs } from "../../../lib/text/numbers.ts";
import { EventMark } from "../../../ui/deliveries/event-mark.tsx";
import { useNow } from "../../../ui/hooks/use-now.ts";
import { When } from "../../../ui/when.tsx";
import { useLogsSearch } from "../use-logs-search.ts";
import type { Selection } from "../use-selection.ts";
import classes from "./attempts.module.css";

interface SelectBoxProps {
	row: AttemptSummary;
	checked: boolean;
	onSet: Selection["set"];
}

export const SelectBox = memo(function SelectBox({ row, checked, onSet }: SelectBoxProps) {
	return (
		<Checkbox
			size="xs"
			aria-label={`Select ${row.event_type}, attempt ${row.attempt}`}
			checked={checked}
			onChange={(event) => onSet(row, event.currentTarget.checked)}
		/>
	);
});

/** The event's type, linked to the attempt. */
export function EventCell({ attempt: { id, event_id, event_type, test } }: { attempt: AttemptSummary }) {
	const projectId = useProjectId();
	const search = useLogsSearch();
	return (
		<span className={classes.marked}>
			<Link
				className={classes.event}
				to="/p/$projectId/logs/$attemptId"
				params={{ projectId, attemptId: id }}
				search={search}
				resetScroll={false}
				tabIndex={-1}
			>
				{event_type}
			</Link>
			<EventMark event={{ event_id, test }} />
		</span>
	);
}

/** A webhook's name, truncated if long. */
export const NameCell = ({ name }: { name: string }) => (
	<span className={classes.name} title={name}>
		{name}
	</span>
);

export const DurationCell = ({ attempt: { response_ms } }: { attempt: AttemptSummary }) => (
	<span className={classes.duration}>{formatMs(response_ms)}</span>
);

interface NextRetryProps {
	at: string | null;
	/** Precedes the time where no header explains it. */
	label?: string;
}

/** When the retry is due; once that time has passed, that it was due. */
export function NextRetryCell({ at, label }: NextRetryProps) {
	const ms = at === null ? 0 : Date.parse(at);
	const now = useNow(ms);
	if (at === null) return <span className={classes.quiet}>–</span>;
	if (ms < now) return <span className={classes.quiet}>{label === undefined ? "was due" : "retry was due"}</span>;
	return (
		<span>
			{label} <When at={at} />
		</span>
	);
}
