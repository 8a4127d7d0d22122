import { wasSent } from "../attempts/attempt-words.ts";
import { plural } from "../text/numbers.ts";
import { shortTime } from "../text/time.ts";
import type { WebhookState } from "./health.ts";

/** The fields of an attempt that the words need. */
export interface RecoveryAttempt {
	readonly status: "delivered" | "retrying" | "failed";
	readonly error_code: string | null;
	readonly started_at: string;
}

/** The fields of a webhook's health that the advice needs. */
interface RecoveringHealth {
	readonly state: WebhookState;
	readonly recent: { readonly minutes: number };
}

/**
 * What to do about a webhook whose last attempt was accepted. It is still failing if most of its recent ones weren't.
 *
 * @param recovery see {@link recoveryWords}
 */
export function recoveryAdvice({ state, recent }: RecoveringHealth, recovery: string | null): string {
	const outlook =
		state === "failing"
			? `Unless attempts fail again, it's healthy within ${recent.minutes} minutes.`
			: "There's nothing to fix unless it fails again.";
	return `${recovery ?? "Its last attempt was accepted."} ${outlook}`;
}

/**
 * Since when everything has been accepted: `It has been delivering since 14:21.` If no failure is among the attempts,
 * how many of them were. Null if the newest one failed.
 *
 * @param attempts the newest ones, newest first
 */
export function recoveryWords(attempts: readonly RecoveryAttempt[], now: number): string | null {
	const made = attempts.filter(wasSent);
	const failed = made.findIndex(({ status }) => status !== "delivered");
	const first = failed === -1 ? made.at(-1) : made[failed - 1];
	if (first === undefined) return null;
	if (failed !== -1) return `It has been delivering since ${shortTime(Date.parse(first.started_at), now)}.`;
	return made.length === 1
		? "Its last attempt was accepted."
		: `Its last ${plural(made.length, "attempt")} were accepted.`;
}
