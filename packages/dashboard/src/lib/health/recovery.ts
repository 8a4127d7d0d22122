import { type AttemptStatus, wasSent } from "../attempts/attempt-words.ts";
import { plural } from "../text/numbers.ts";
import { shortTime } from "../text/time.ts";

/** The fields of an attempt that the words need. */
export interface RecoveryAttempt {
	readonly status: AttemptStatus;
	readonly error_code: string | null;
	readonly started_at: string;
}

/** How a webhook has been since attempts were accepted again. */
export interface Recovery {
	readonly words: string;
	/** Whether failures came back after a success, so that the last success says little. */
	readonly isRecurring: boolean;
}

/**
 * What to do about a webhook whose last attempt was accepted: its earlier failures still make it failing or unstable.
 *
 * @param recovery see {@link recoveryOf}
 */
export function recoveryAdvice({ minutes }: { readonly minutes: number }, recovery: Recovery | null): string {
	const outlook = recovery?.isRecurring
		? "To find out why, compare failed attempts with accepted ones."
		: `Unless attempts fail again, it will be healthy within ${minutes} minutes.`;
	return `${recovery?.words ?? "Its last attempt was accepted."} ${outlook}`;
}

/**
 * Since when everything has been accepted: `It has been delivering since 14:21.` If no failure is among the attempts,
 * how many of them were. If attempts failed again after a success, that it fails now and then. Null if the newest one
 * failed.
 *
 * @param attempts the newest ones, newest first
 */
export function recoveryOf(attempts: readonly RecoveryAttempt[], now: number): Recovery | null {
	const made = attempts.filter(wasSent);
	const isFailed = ({ status }: RecoveryAttempt) => status !== "delivered";
	const failed = made.findIndex(isFailed);
	const first = failed === -1 ? made.at(-1) : made[failed - 1];
	if (first === undefined) return null;
	const outages = made.filter((one, i) => i > 0 && isFailed(one) && !isFailed(made[i - 1]!)).length;
	if (outages > 1) return { words: "It fails now and then.", isRecurring: true };
	const since = `It has been delivering since ${shortTime(Date.parse(first.started_at), now)}.`;
	const all = made.length === 1 ? "Its last attempt was" : `Its last ${plural(made.length, "attempt")} were`;
	return { words: failed === -1 ? `${all} accepted.` : since, isRecurring: false };
}
