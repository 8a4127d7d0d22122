import { wasSent } from "../attempts/attempt-words.ts";
import { plural } from "../text/numbers.ts";
import { shortTime } from "../text/time.ts";

/** The fields of an attempt that the words need. */
export interface RecoveryAttempt {
	readonly status: "delivered" | "retrying" | "failed";
	readonly error_code: string | null;
	readonly started_at: string;
}

/** Said of a webhook whose failures came back: otherwise it would seem to have recovered after each success. */
const NOW_AND_THEN = "It fails now and then.";

/**
 * What to do about a webhook whose last attempt was accepted: its earlier failures still make it failing or unstable.
 *
 * @param recovery see {@link recoveryWords}
 */
export function recoveryAdvice({ minutes }: { readonly minutes: number }, recovery: string | null): string {
	const outlook =
		recovery === NOW_AND_THEN
			? "To find out why, compare failed attempts with accepted ones."
			: `Unless attempts fail again, it's healthy within ${minutes} minutes.`;
	return `${recovery ?? "Its last attempt was accepted."} ${outlook}`;
}

/**
 * Since when everything has been accepted: `It has been delivering since 14:21.` If no failure is among the attempts,
 * how many of them were. If attempts failed again after a success, that it fails now and then. Null if the newest one
 * failed.
 *
 * @param attempts the newest ones, newest first
 */
export function recoveryWords(attempts: readonly RecoveryAttempt[], now: number): string | null {
	const made = attempts.filter(wasSent);
	const isFailed = ({ status }: RecoveryAttempt) => status !== "delivered";
	const failed = made.findIndex(isFailed);
	const first = failed === -1 ? made.at(-1) : made[failed - 1];
	if (first === undefined) return null;
	if (made.filter((one, i) => i > 0 && isFailed(one) && !isFailed(made[i - 1]!)).length > 1) return NOW_AND_THEN;
	if (failed !== -1) return `It has been delivering since ${shortTime(Date.parse(first.started_at), now)}.`;
	return made.length === 1
		? "Its last attempt was accepted."
		: `Its last ${plural(made.length, "attempt")} were accepted.`;
}
