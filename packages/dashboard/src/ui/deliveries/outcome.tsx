import {
	IconActivity,
	IconAlertTriangle,
	IconCheck,
	IconCircleDashed,
	IconClock,
	IconPlayerPause,
	IconRefresh,
	IconReload,
	IconX,
} from "@tabler/icons-react";
import type { AttemptStatus } from "../../lib/attempts/attempt-words.ts";
import type { WebhookState } from "../../lib/health/health-facts.ts";
import { compactCount } from "../../lib/text/numbers.ts";
import classes from "./outcome.module.css";

const LOOK = {
	delivered: { word: "Delivered", Icon: IconCheck, tone: "delivered" },
	retrying: { word: "Retrying", Icon: IconRefresh, tone: "retrying" },
	retried: { word: "Retried", Icon: IconRefresh, tone: "paused" },
	failed: { word: "Failed", Icon: IconX, tone: "failed" },
	paused: { word: "Paused", Icon: IconPlayerPause, tone: "paused" },
	waiting: { word: "Waiting", Icon: IconClock, tone: "waiting" },
	replayed: { word: "Replayed", Icon: IconReload, tone: "paused" },
	dismissed: { word: "Dismissed", Icon: IconCheck, tone: "paused" },
	cancelled: { word: "Cancelled", Icon: IconX, tone: "paused" },
	abandoned: { word: "Won't be retried", Icon: IconX, tone: "paused" },
	// A webhook's health.
	failing: { word: "Failing", Icon: IconAlertTriangle, tone: "failed" },
	unstable: { word: "Unstable", Icon: IconActivity, tone: "retrying" },
	healthy: { word: "Healthy", Icon: IconCheck, tone: "delivered" },
	idle: { word: "No deliveries", Icon: IconCircleDashed, tone: "paused" },
} as const;

export type OutcomeKind = keyof typeof LOOK;

export const outcomeWord = (kind: OutcomeKind): string => LOOK[kind].word;

/** The CSS colors of an outcome: for text, for its background tint, and for areas of charts. */
export const outcomeColor = (kind: OutcomeKind, part: "text" | "tint" | "fill" = "text") =>
	`var(--ph-${LOOK[kind].tone}${part === "text" ? "" : `-${part}`})`;

/** An attempt's outcome. A retrying one counts as retried once its delivery has a later attempt. */
export const attemptOutcome = (status: AttemptStatus, isFollowed: boolean): OutcomeKind =>
	status === "retrying" && isFollowed ? "retried" : status;

interface OutcomeProps {
	kind: OutcomeKind;
	/** A word other than the outcome's own. */
	label?: string;
	/** Without the background tint, for sentences and dense tables. */
	plain?: boolean;
}

/** An outcome: always its color, its icon and a word together. */
export function Outcome({ kind, label, plain = false }: OutcomeProps) {
	const { word, Icon } = LOOK[kind];
	const background = plain ? undefined : outcomeColor(kind, "tint");
	return (
		<span className={classes.outcome} data-plain={plain || undefined} style={{ color: outcomeColor(kind), background }}>
			<Icon size={13} stroke={2.5} aria-hidden />
			{label ?? word}
		</span>
	);
}

interface HealthStateProps {
	state: WebhookState;
	/** Whether it is failing because nothing can be signed for it. */
	lacksSecret?: boolean;
	/** How many webhooks are failing or unstable, if it is about several. */
	count?: number;
}

/** A webhook's health state, in the same style. */
export function HealthState({ state, lacksSecret = false, count }: HealthStateProps) {
	if (lacksSecret) return <Outcome kind="failed" label="No secret" />;
	if (count === undefined || (state !== "failing" && state !== "unstable")) return <Outcome kind={state} />;
	return <Outcome kind={state} label={`${compactCount(count)} ${state}`} />;
}
