import { type ResponseFacts, responseWords } from "../attempts/attempt-words.ts";
import { pendingOf, pendingWords } from "../attempts/pending.ts";
import { allOf, formatCount, isAre, plural } from "../text/numbers.ts";
import { coarseSpan, dueWords, shortTime, timeAgo } from "../text/time.ts";
import { deliveriesWaiting, type HealthFacts, isBehind, type Waiting } from "./health-facts.ts";

/**
 * `Returning 500 since 14:02`, `Failing since 14:02: connection refused`. Describes the last attempt separately if the
 * first failure was another one, and gives the share of recent failures if some attempts were accepted.
 */
export function failingSince(health: HealthFacts, now: number): string {
	const { last_attempt: last, failing_since: first } = health;
	if (last === null) return "Failing";
	if (first === null) return recentFailures(health);
	if (!health.down) return `${recentFailures(health)}. ${lastAttempt(last)}`;
	const since = shortTime(Date.parse(first.started_at), now);
	if (!isSame(first, last)) return `Failing since ${since}. ${lastAttempt(last)}`;
	const { short } = responseWords(last);
	return last.status_code === null ? `Failing since ${since}: ${short}` : `Returning ${short} since ${since}`;
}

/** Whether the first failure and the last read the same. */
export const isSame = (first: ResponseFacts, last: ResponseFacts) =>
	responseWords(first).short === responseWords(last).short;

/** `The last attempt returned 500`. */
const lastAttempt = (last: ResponseFacts): string => `The last attempt ${responseWords(last).said}`;

/** `9 of 60 attempts have failed in the last 15 minutes`. */
export function recentFailures({ recent: { minutes, delivered, failed } }: Pick<HealthFacts, "recent">): string {
	const all = delivered + failed;
	if (all === 1) return `Its only attempt in the last ${minutes} minutes has failed`;
	const few =
		delivered > 0
			? `${formatCount(failed)} of ${plural(all, "attempt")} ${failed === 1 ? "has" : "have"}`
			: `${allOf(all, "attempts")} have`;
	return `${few} failed in the last ${minutes} minutes`;
}

/**
 * What is wrong with an unstable webhook: `9 of 60 attempts have failed in the last 15 minutes. The last attempt returned
 * 500`.
 */
export function unstableWords(health: HealthFacts): string {
	const { last_attempt: last, failing_since: first, recent } = health;
	const isFailing = last !== null && first !== null;
	if (recent.delivered + recent.failed === 0) return isFailing ? lastAttempt(last) : "Unstable";
	const words = recentFailures(health);
	return isFailing ? `${words}. ${lastAttempt(last)}` : words;
}

/**
 * Since when nothing was sent, as far as the log knows: `yet`, or `in the last 30 days`.
 *
 * @param isOlder whether it may have been sent earlier: see {@link isOlderThanLog}
 * @param days that the log keeps
 */
export const untilNow = (isOlder: boolean, days: number): string =>
	isOlder ? `in the last ${days === 1 ? "day" : plural(days, "day")}` : "yet";

/** The one thing that helps a webhook in its state. */
export type HelpfulAction = "resume" | "replay" | "test" | null;

/**
 * A webhook's state in a sentence, and the one action that helps.
 *
 * @param testFailed whether its last test failed, which is said after the sentence
 * @param nothing since when nothing was sent, if nothing was: see {@link untilNow}
 */
export function webhookSentence(
	health: HealthFacts,
	now: number,
	testFailed = false,
	nothing = "yet",
): { text: string; action: HelpfulAction } {
	const { backlog, dead_letters: dead, day, last_delivered_at: last } = health;
	const acceptedAt = last === null ? null : timeAgo(Date.parse(last), now);
	const failed = `${plural(dead, "delivery")} failed for good and can be replayed`;
	const none = `No event has been sent to it ${nothing}.`;
	switch (health.state) {
		case "paused": {
			const waiting = pendingWords(pendingOf(health));
			const text =
				waiting === ""
					? "Paused. Nothing is sent. Events wait until it's resumed."
					: `Paused. Nothing is sent. ${waiting} ${isAre(pendingOf(health).total)} waiting.`;
			return { text, action: "resume" };
		}
		case "failing":
			return { text: `${failingSince(health, now)}.`, action: dead > 0 ? "replay" : "test" };
		case "unstable": {
			const left = dead === 0 ? "" : ` ${failed}.`;
			return { text: `${unstableWords(health)}.${left}`, action: dead > 0 ? "replay" : "test" };
		}
		case "idle":
			if (backlog.events > 0) return { text: `${plural(backlog.events, "event")} about to be sent.`, action: null };
			if (testFailed) return { text: none, action: "test" };
			if (acceptedAt === null) return { text: `${none} Send a test event to see whether it works.`, action: "test" };
			return { text: `Tested: it accepted a test event ${acceptedAt}. ${none}`, action: null };
		case "healthy": {
			if (isBehind(health, now)) {
				return {
					text: `Accepting events, but behind: ${backlogSentence(backlog, now)}. A slow receiver holds up later events; see Settings for how many may be in flight.`,
					action: null,
				};
			}
			if (dead > 0) return { text: `Healthy now. ${failed}.`, action: "replay" };
			const text =
				day.delivered === 0
					? `Healthy. Its last event was accepted${acceptedAt === null ? "" : ` ${acceptedAt}`}.`
					: `Healthy. ${plural(day.delivered, "delivery")} accepted in the last 24 hours${acceptedAt === null ? "" : `, the last ${acceptedAt}`}.`;
			return { text, action: null };
		}
	}
}

/** A failing webhook's pending and failed deliveries in one line: `37 deliveries wait for a retry, the next one in 8 min`. */
export function waitingSentence({ waiting, backlog, dead_letters: dead }: HealthFacts, now: number): string {
	const parts: string[] = [];
	if (waiting.count > 0) {
		const next = waiting.next_at === null ? "" : `, the next one ${dueWords(Date.parse(waiting.next_at), now)}`;
		parts.push(`${waitWords(waiting)} for a retry${next}`);
	}
	if (dead > 0) parts.push(`${plural(dead, "delivery")} failed for good`);
	const late = backlogSentence(backlog, now);
	if (late !== null) parts.push(late);
	return parts.length === 0 ? "" : `${parts.join("; ")}.`;
}

/** `3 deliveries wait`, `3 deliveries and 1 test wait`, `1 test waits`. */
export function waitWords(waiting: Waiting): string {
	const deliveries = deliveriesWaiting(waiting);
	const what = [
		deliveries > 0 || waiting.tests === 0 ? plural(deliveries, "delivery") : "",
		waiting.tests > 0 ? plural(waiting.tests, "test") : "",
	];
	return `${what.filter((part) => part !== "").join(" and ")} ${waiting.count === 1 ? "waits" : "wait"}`;
}

/** Events pending for a webhook: `12 events wait for their first attempt, the oldest for 4 min.` */
export function pendingSentence({ backlog, waiting }: Pick<HealthFacts, "backlog" | "waiting">, now: number): string {
	const first = backlogSentence(backlog, now);
	const again = waiting.count === 0 ? null : `${waitWords(waiting)} for a retry`;
	if (first !== null && again !== null) return `${first}; ${again}.`;
	return `${first ?? again ?? "Nothing is waiting"}.`;
}

/** `12 events wait for their first attempt, the oldest for 4 min`; null if there are none. */
export function backlogSentence({ events, oldest_at }: HealthFacts["backlog"], now: number): string | null {
	if (events === 0) return null;
	const age = oldest_at === null ? null : coarseSpan(now - Date.parse(oldest_at));
	if (events === 1) return `1 event ${age === null ? "waits" : `has waited ${age}`} for its first attempt`;
	return `${plural(events, "event")} wait for their first attempt${age === null ? "" : `, the oldest for ${age}`}`;
}
