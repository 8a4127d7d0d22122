import { Button, Group } from "@mantine/core";
import { IconArrowUp, IconPlayerPause, IconPlayerPlay, type IconReload } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { ROWS } from "../../api/attempts.ts";
import { useLive } from "../../api/client/live.tsx";
import { type DeliveryId, MAX_NAMED } from "../../api/deliveries.ts";
import { formatCount, plural } from "../../lib/text/numbers.ts";
import { SaidOnce } from "../../ui/said-once.tsx";
import type { Log } from "./attempts/use-log.ts";
import classes from "./log-toolbar.module.css";
import type { Selection } from "./use-selection.ts";

interface Action {
	label: (count: string) => string;
	Icon: typeof IconReload;
	/** The selected deliveries that it can be done to. Without any, it isn't offered. */
	deliveries: readonly DeliveryId[];
	act: (deliveries: readonly DeliveryId[]) => void;
}

interface LogToolbarProps {
	selection: Selection;
	still: boolean;
	/** The last one that is offered suits the selection best. */
	actions: readonly Action[];
	/** What the actions do with several, such as "sent". */
	done: string;
	/** In place of the selection, if nothing is selected. */
	children?: ReactNode;
}

/** Above the rows: the selection and its actions, or whether the list updates live. */
export function LogToolbar({ selection, still, actions, done, children }: LogToolbarProps) {
	const { size, deliveries } = selection;
	const offered = actions.filter((action) => action.deliveries.length > 0);
	const isTooMany = (action: Action) => action.deliveries.length > MAX_NAMED;
	return (
		<div className={classes.toolbar} data-selected={size > 0 || undefined}>
			<div className={classes.words} aria-live="polite" aria-atomic>
				{size === 0 ? (
					children
				) : (
					<>
						{formatCount(size)} selected
						{deliveries === size ? "" : `, of ${plural(deliveries, "delivery")}`}
						{offered.length === 0 ? `: ${size === 1 ? "it" : "none"} can't be ${done} now` : ""}
						{offered.some(isTooMany) ? `: at most ${MAX_NAMED} can be ${done} at once` : ""}
					</>
				)}
			</div>
			{size === 0 ? (
				<TailButton still={still} />
			) : (
				<Group gap={6}>
					{offered.map((action) => (
						<Button
							key={action.label("")}
							size="compact-sm"
							variant={action === offered.at(-1) ? "filled" : "default"}
							leftSection={<action.Icon size={14} aria-hidden />}
							disabled={isTooMany(action)}
							onClick={() => action.act(action.deliveries)}
						>
							{action.label(formatCount(action.deliveries.length))}
						</Button>
					))}
					<Button size="compact-sm" variant="default" onClick={() => selection.setAll([])}>
						Unselect
					</Button>
				</Group>
			)}
		</div>
	);
}

/** While the list is paused: how many newer entries there are. */
export function NewerButton({ log }: { log: Log }) {
	if (log.waiting === 0) return null;
	return (
		<Button
			className={classes.newer}
			size="compact-sm"
			leftSection={<IconArrowUp size={14} aria-hidden />}
			onClick={() => {
				log.showNewest();
				window.scrollTo({ top: 0 });
			}}
		>
			<SaidOnce>
				{log.waiting < ROWS ? plural(log.waiting, "newer attempt") : `${ROWS} or more newer attempts`}
			</SaidOnce>
		</Button>
	);
}

const TAIL = {
	live: { label: "Live", verb: "Pause" },
	connecting: { label: "Connecting", verb: "Pause" },
	lost: { label: "Not live", verb: "Reconnect" },
	paused: { label: "Paused", verb: "Follow live" },
	off: { label: "Not live", verb: "Pause" },
} as const;

/** Whether the list updates live. */
function TailButton({ still }: { still: boolean }) {
	const { state, pause, resume } = useLive();
	const { label, verb } = TAIL[state];
	const isOver = state === "paused" || state === "lost";
	const Icon = isOver ? IconPlayerPlay : IconPlayerPause;
	return (
		<Group gap={8} wrap="nowrap">
			<span className={classes.state} data-state={state}>
				{state === "live" && still ? "Paused while you read" : label}
			</span>
			<Button
				size="compact-sm"
				variant="default"
				leftSection={<Icon size={14} aria-hidden />}
				onClick={isOver ? resume : pause}
			>
				{verb}
			</Button>
		</Group>
	);
}
