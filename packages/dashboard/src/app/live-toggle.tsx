import { Button, Tooltip } from "@mantine/core";
import { type LiveState, useLive } from "../api/live.tsx";
import classes from "./live-toggle.module.css";

const WORDS: Record<LiveState, { label: string; hint: string }> = {
	live: { label: "Live", hint: "Pages update live. Click to pause." },
	connecting: { label: "Connecting", hint: "Pages will update live once the service responds." },
	paused: { label: "Paused", hint: "Live updates are paused. Click to resume." },
};

/** Whether pages update live, and a button to pause that. */
export function LiveToggle() {
	const { state, pause, resume } = useLive();
	const { label, hint } = WORDS[state];
	return (
		<Tooltip label={hint}>
			<Button
				className={classes.toggle}
				variant="subtle"
				color="gray"
				size="compact-sm"
				aria-pressed={state !== "paused"}
				aria-label={`Live updates: ${label.toLowerCase()}`}
				onClick={state === "paused" ? resume : pause}
				leftSection={<span className={classes.dot} data-state={state} />}
			>
				<span className={classes.label}>{label}</span>
			</Button>
		</Tooltip>
	);
}
