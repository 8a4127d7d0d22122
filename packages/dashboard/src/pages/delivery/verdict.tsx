import { IconAlertTriangle, IconCheck, IconRefresh } from "@tabler/icons-react";
import type { Attempt } from "../../api/attempts.ts";
import { adviceFor } from "../../lib/attempts/advice/advice.ts";
import { headline, wasSent } from "../../lib/attempts/attempt-words.ts";
import { responseExcerpt } from "../../lib/attempts/response-excerpt.ts";
import { HOLDS } from "../../lib/text/hold.ts";
import { dueWords } from "../../lib/text/time.ts";
import { outcomeColor } from "../../ui/deliveries/outcome.tsx";
import { When } from "../../ui/when.tsx";
import classes from "./delivery.module.css";
import { prospectOf, type StandingState } from "./delivery-state.ts";

interface VerdictProps {
	attempt: Attempt;
	state: StandingState;
	/** Whether it is the delivery's last attempt so far. */
	isNewest: boolean;
}

const ICONS = { delivered: IconCheck, retrying: IconRefresh, failed: IconAlertTriangle } as const;

/** What happened in plain words, why, what comes next, and what to try. */
export function Verdict({ attempt, state, isNewest }: VerdictProps) {
	const { why, tries } = adviceFor(attempt, prospectOf(state));
	const Icon = ICONS[attempt.status];
	const tone = outcomeColor(attempt.status);
	const excerpt =
		attempt.status === "delivered" || attempt.status_code === null ? "" : responseExcerpt(attempt.response_body);
	return (
		<section
			className={classes.verdict}
			style={{ background: outcomeColor(attempt.status, "tint") }}
			aria-label="What happened"
		>
			<Icon size={20} stroke={2} style={{ color: tone }} aria-hidden />
			<div>
				<h3 className={classes.headline} style={{ color: tone }}>
					{headline(attempt)}
				</h3>
				<p>
					{why} <Outlook attempt={attempt} state={state} isNewest={isNewest} tries={tries} />
				</p>
				{excerpt === "" ? null : (
					<p className={classes.said}>
						It said: <code>{excerpt}</code>
					</p>
				)}
				{tries.length === 0 ? null : (
					<>
						<p className={classes.tryTitle}>What to try</p>
						<ul className={classes.tries}>
							{tries.map((one) => (
								<li key={one}>{one}</li>
							))}
						</ul>
					</>
				)}
			</div>
		</section>
	);
}

/** What happens next, or what has happened since. */
function Outlook({ attempt, state, isNewest, tries }: VerdictProps & { tries: readonly string[] }) {
	if (!isNewest) {
		if (attempt.status === "delivered") return state.outcome === "delivered" ? null : "It has been replayed since.";
		return state.outcome === "delivered"
			? "A later attempt delivered it."
			: "Later attempts were made: see the timeline.";
	}
	if (!state.over) {
		if (state.hold !== null) return HOLDS[state.hold].outlook;
		return state.nextAt === null ? (
			"The next attempt is in progress."
		) : (
			<>
				The next retry is <When at={state.nextAt} words={dueWords} />.
			</>
		);
	}
	if (attempt.status === "retrying")
		return "It won't be retried: its webhook was deleted, or its event is no longer stored.";
	if (attempt.status !== "failed" || !wasSent(attempt)) return null;
	const over = "There are no attempts left, so it won't be retried.";
	const isSaid = state.refusal !== null || tries.some((one) => /replay/i.test(one));
	return isSaid ? over : `${over} Replay it once the cause is fixed.`;
}
