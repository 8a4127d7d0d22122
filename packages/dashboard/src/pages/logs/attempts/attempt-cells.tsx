import { Checkbox } from "@mantine/core";
import { memo } from "react";
import type { AttemptSummary, ListedAttempt } from "../../../api/attempts.ts";
import { responseWords } from "../../../lib/attempts/attempt-words.ts";
import { rowWords } from "../../../lib/attempts/event-words.ts";
import { splitDeleted } from "../../../lib/health/webhook-name.ts";
import { formatMs } from "../../../lib/text/numbers.ts";
import { dueWords } from "../../../lib/text/time.ts";
import { EventMark } from "../../../ui/deliveries/event-mark.tsx";
import { OrderId } from "../../../ui/deliveries/order-id.tsx";
import type { Column } from "../../../ui/page/data-table.tsx";
import { When } from "../../../ui/when.tsx";
import type { NameOf } from "../filters/filter-words.ts";
import { holdIn, type SendState } from "../sendable.ts";
import type { Selection } from "../use-selection.ts";
import { AttemptLink } from "./attempt-link.tsx";
import classes from "./attempts.module.css";

interface SelectBoxProps {
	row: AttemptSummary;
	/** Names the row for screen readers. */
	what: string;
	checked: boolean;
	onSet: Selection["set"];
}

/** Not the library's checkbox, which is several elements: each row has one. */
export const SelectBox = memo(function SelectBox({ row, what, checked, onSet }: SelectBoxProps) {
	return (
		<input
			type="checkbox"
			className={classes.select}
			aria-label={`Select ${what}, attempt ${row.attempt}`}
			checked={checked}
			onChange={(event) => onSet(row, event.currentTarget.checked)}
		/>
	);
});

export type SelectableRow = Parameters<typeof rowWords>[0] & Pick<AttemptSummary, "webhook_id">;

/** The column for selecting rows, except those without an attempt. */
export function selectColumn<Row extends SelectableRow>(
	rows: readonly Row[],
	selection: Selection,
	attemptOf: (row: Row) => AttemptSummary | null,
	nameOf: NameOf,
): Column<Row> {
	const selectable = rows.map(attemptOf).filter((attempt) => attempt !== null);
	return {
		key: "select",
		header: (
			<Checkbox
				size="xs"
				aria-label="Select all rows on this page"
				checked={selectable.length > 0 && selection.size >= selectable.length}
				indeterminate={selection.size > 0 && selection.size < selectable.length}
				onChange={(event) => selection.setAll(event.currentTarget.checked ? selectable : [])}
			/>
		),
		render: (row) => {
			const attempt = attemptOf(row);
			if (attempt === null) return null;
			const what = rowWords(row, nameOf(row.webhook_id));
			return <SelectBox row={attempt} what={what} checked={selection.has(attempt.id)} onSet={selection.set} />;
		},
		width: 40,
	};
}

/** The event's type, linked to the attempt, and its order. */
export function EventCell({ attempt: { id, event_id, event_type, order_id, test } }: { attempt: ListedAttempt }) {
	return (
		<span className={classes.what}>
			<AttemptLink id={id} type={event_type} />
			<EventDetails event={{ event_id, order_id, test }} />
		</span>
	);
}

/** Below an event's type: whether it is a test or a sample, and its order. Nothing for most events without an order. */
export const EventDetails = ({ event }: { event: Pick<ListedAttempt, "event_id" | "order_id" | "test"> }) => (
	<span className={classes.details}>
		<EventMark event={event} />
		<OrderId id={event.order_id} />
	</span>
);

/** A webhook's name, truncated if long, but never that it was deleted. */
export function NameCell({ name }: { name: string }) {
	const [start, mark] = splitDeleted(name);
	if (mark === "") {
		// The name of a webhook without a description is its host.
		const [, domain, label, port] = /^(\S+\.)?([^\s.]+)(:\d{1,5})$/.exec(name) ?? [];
		return (
			<span className={classes.name} title={name}>
				{port === undefined ? (
					name
				) : (
					<>
						{domain}
						<span className={classes.whole}>
							{label}
							<span className={classes.whole}>{port}</span>
						</span>
					</>
				)}
			</span>
		);
	}
	return (
		<span className={classes.marked} title={name}>
			<span className={classes.start}>{start}</span> <span className={classes.quiet}>{mark}</span>
		</span>
	);
}

/** A response in short, or why there was none. */
export function ResponseCell({ attempt }: { attempt: AttemptSummary }) {
	const { short } = responseWords(attempt);
	return (
		<span className={classes.response} title={short}>
			{short}
		</span>
	);
}

export const DurationCell = ({ attempt: { response_ms } }: { attempt: AttemptSummary }) => (
	<span className={classes.duration}>{formatMs(response_ms)}</span>
);

interface NextRetryProps {
	attempt: ListedAttempt;
	/** Whether the attempt's webhook still sends. */
	webhook: SendState;
	/** Precedes the time where no header explains it. */
	label?: string;
}

/** Whether the attempt's retry has yet to be made. */
export const isPending = ({ next_retry_at, followed }: ListedAttempt) => next_retry_at !== null && !followed;

/** When the retry is due, until it has been made. */
export function NextRetryCell({ attempt, webhook, label }: NextRetryProps) {
	const { next_retry_at: at } = attempt;
	if (at === null || !isPending(attempt) || webhook === "deleted") return <span className={classes.quiet}>–</span>;
	return (
		<span className={classes.due}>
			{label} <When at={at} words={(due, now) => dueWords(due, now, holdIn(webhook))} />
		</span>
	);
}
