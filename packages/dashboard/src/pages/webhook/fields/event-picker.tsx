import { Badge, Button, Checkbox, Input, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useId, useState } from "react";
import { type EventTypeEntry, eventTypesQuery } from "../../../api/event-types.ts";
import type { EventType } from "../../../api/model.ts";
import { Breakable } from "../../../ui/breakable.tsx";
import { CodeBlock } from "../../../ui/code-block.tsx";
import { InlineCode } from "../../../ui/ident.tsx";
import { ErrorState, SkeletonRows } from "../../../ui/page/states.tsx";
import { groupEventTypes, inCatalogueOrder } from "./event-groups.ts";
import classes from "./event-picker.module.css";

interface EventPickerProps {
	value: readonly string[];
	onChange: (types: EventType[]) => void;
	error?: ReactNode;
	disabled?: boolean;
	/** Called with the type whose sample is shown. */
	onLook?: (type: EventType) => void;
}

/** Which events a webhook receives: in groups, each with when it fires and its data. */
export function EventPicker({ value, onChange, error, disabled = false, onLook }: EventPickerProps) {
	const { data: entries, error: problem, refetch } = useQuery(eventTypesQuery);
	const labelId = useId();
	const errorId = useId();
	const chosen = new Set(value);
	const choose = (types: ReadonlySet<string>) => onChange(inCatalogueOrder(entries ?? [], types));
	const toggle = (type: EventType, on: boolean) => {
		const types = new Set(chosen);
		if (on) types.add(type);
		else types.delete(type);
		choose(types);
		if (on) onLook?.(type);
	};
	if (problem !== null) return <ErrorState error={problem} onRetry={refetch} />;
	const total = entries?.length ?? 0;
	return (
		<fieldset className={classes.root} aria-labelledby={labelId} aria-describedby={error ? errorId : undefined}>
			<Input.Label required id={labelId} component="div">
				Events
			</Input.Label>
			<Input.Description mb={6}>
				It receives these events, starting with the first one after you save.
			</Input.Description>
			{/* Above the events: the first one gets the focus, and the last one may be out of sight. */}
			{error ? (
				<Input.Error id={errorId} mb={6} role="alert">
					{error}
				</Input.Error>
			) : null}
			{entries === undefined ? (
				<SkeletonRows count={9} height={52} />
			) : (
				<div className={classes.picker} data-invalid={Boolean(error) || undefined}>
					<div className={classes.all}>
						<Checkbox
							label={<strong>All event types</strong>}
							checked={chosen.size === total}
							indeterminate={chosen.size > 0 && chosen.size < total}
							disabled={disabled}
							aria-invalid={Boolean(error)}
							aria-describedby={error ? errorId : undefined}
							onChange={(event) =>
								choose(event.currentTarget.checked ? new Set(entries.map(({ type }) => type)) : new Set())
							}
						/>
						<Text size="sm" c="dimmed" aria-live="polite">
							{chosen.size} of {total} chosen
						</Text>
					</div>
					{groupEventTypes(entries).map(({ name, entries: members }) => (
						<fieldset key={name} className={classes.group}>
							<legend className={classes.name}>{name}</legend>
							<div className={classes.entries}>
								{members.map((entry) => (
									<EventLine
										key={entry.type}
										entry={entry}
										checked={chosen.has(entry.type)}
										disabled={disabled}
										onToggle={(on) => toggle(entry.type, on)}
									/>
								))}
							</div>
						</fieldset>
					))}
				</div>
			)}
		</fieldset>
	);
}

interface EventLineProps {
	entry: EventTypeEntry;
	checked: boolean;
	disabled: boolean;
	onToggle: (on: boolean) => void;
}

function EventLine({ entry, checked, disabled, onToggle }: EventLineProps) {
	const [open, setOpen] = useState(false);
	const sampleId = useId();
	return (
		<div>
			<div className={classes.entry}>
				<Checkbox
					checked={checked}
					disabled={disabled}
					onChange={(event) => onToggle(event.currentTarget.checked)}
					label={
						<>
							<span className={classes.type}>
								<Breakable name={entry.type} />
							</span>
							{entry.future ? (
								<Badge size="sm" ml={8} color="gray" variant="outline" c="dimmed">
									Future
								</Badge>
							) : null}
						</>
					}
					description={
						<InlineCode
							text={
								entry.future ? `${entry.description} Your store may not publish this event yet.` : entry.description
							}
						/>
					}
				/>
				<Button
					size="compact-xs"
					variant="subtle"
					color="gray"
					c="dimmed"
					aria-expanded={open}
					aria-controls={sampleId}
					aria-label={`Sample of ${entry.type}`}
					onClick={() => setOpen(!open)}
				>
					{open ? "Hide" : "Sample"}
				</Button>
			</div>
			<div id={sampleId} className={classes.sample} hidden={!open}>
				{open ? (
					<CodeBlock code={JSON.stringify(entry.sample, null, 2)} label={`sample data of ${entry.type}`} />
				) : null}
			</div>
		</div>
	);
}
