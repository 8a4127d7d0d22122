import { Button, Tooltip } from "@mantine/core";
import { type Live, POLL_MS, useLive } from "../../api/client/live.tsx";
import { shortTime } from "../../lib/text/time.ts";
import classes from "./live-toggle.module.css";

function wordsOf({ state, lostAt }: Live): { label: string; hint: string } {
	switch (state) {
		case "live":
			return { label: "Live", hint: "Pages update live. Click to pause." };
		case "paused":
			return { label: "Paused", hint: "Live updates are paused. Click to resume." };
		case "lost":
			return {
				label: lostAt === null ? "Not live" : `Not live since ${shortTime(lostAt, Date.now())}`,
				hint: `The connection was lost. Until it's back, pages refresh every ${POLL_MS / 1_000} seconds. Click to reconnect now.`,
			};
		default:
			return { label: "Connecting", hint: "Pages will update live once the service responds." };
	}
}

/** Whether pages update live, and a button to pause that, or to reconnect. */
export function LiveToggle() {
	const live = useLive();
	if (live.state === "off") return null;
	const { label, hint } = wordsOf(live);
	const isGoing = live.state === "live" || live.state === "connecting";
	return (
		<Tooltip label={hint}>
			<Button
				className={classes.toggle}
				variant="subtle"
				color="gray"
				size="compact-sm"
				aria-pressed={live.state !== "paused"}
				aria-label={`Live updates: ${label.toLowerCase()}`}
				onClick={isGoing ? live.pause : live.resume}
				leftSection={<span className={classes.dot} data-state={live.state} />}
			>
				<span className={classes.label}>{label}</span>
			</Button>
		</Tooltip>
	);
}
