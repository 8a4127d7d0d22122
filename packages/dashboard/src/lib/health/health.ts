import { type ResponseFacts, responseWords } from "../attempts/attempt-words.ts";
import { pendingOf, pendingWords } from "../attempts/pending.ts";
import { lowerFirst } from "../text/case.ts";
import { cutEnd } from "../text/cut.ts";
import { isolated } from "../text/names.ts";
import { formatCount, plural } from "../text/numbers.ts";
import { coarseSpan, dueWords, shortTime, timeAgo } from "../text/time.ts";
import type { HealthFacts, Waiting } from "./health-facts.ts";

/** The fields of a webhook that the sentences need. */
export interface WebhookFacts {
	readonly id: string;
	readonly url: string;
	readonly description: string;
	readonly created_at?: string;
	readonly status?: "active" | "paused";
	readonly secret_state?: "usable" | "unreadable" | "lost";
}

/** Whether nothing is sent to an active webhook, because nothing can be signed: its health is failing. */
export const lacksSecret = ({ status, secret_state = "usable" }: Pick<WebhookFacts, "status" | "secret_state">) =>
	status !== "paused" && secret_state !== "usable";

/** Whether a webhook is older than what the log has of it. It may be, as long as its health isn't known. */
export const isOlderThanLog = (
	{ created_at }: Pick<WebhookFacts, "created_at">,
	health: Pick<HealthFacts, "logged_since"> | undefined,
): boolean =>
	created_at !== undefined && (health === undefined || Date.parse(health.logged_since) > Date.parse(created_at));

/**
 * Since when nothing was sent, as far as the log knows: `yet`, or `in the last 30 days`.
 *
 * @param isOlder whether it may have been sent earlier: see {@link isOlderThanLog}
 * @param days that the log keeps
 */
export const untilNow = (isOlder: boolean, days: number): string =>
	isOlder ? `in the last ${days === 1 ? "day" : plural(days, "day")}` : "yet";

/** The display name of a webhook: its description, or its host. */
export function webhookName({ description, url }: Pick<WebhookFacts, "description" | "url">): string {
	if (description.trim() !== "") return description.trim();
	return URL.canParse(url) ? new URL(url).host : url;
}

/** Longer names are cut in sentences, in characters. */
const NAME_LENGTH = 60;
/** How many names a sentence has. */
const NAMED = 3;

/** The name in a sentence: not too long, and isolated. */
export function nameInSentence(webhook: Omit<WebhookFacts, "id">): string {
	return isolated(cutEnd(webhookName(webhook), NAME_LENGTH));
}

/** `Accounting, Shipping, Chat and 2 others`. */
function namesOf(webhooks: readonly Omit<WebhookFacts, "id">[]): string {
	const names = webhooks.slice(0, NAMED).map(nameInSentence).join(", ");
	const more = webhooks.length - NAMED;
	return more > 0 ? `${names} and ${plural(more, "other")}` : names;
}

const DELETED = "(deleted)";

/**
 * The display name of a deleted webhook: the one it had, or until that is known, where its attempts went.
 *
 * @param url of one of its attempts
 */
export function deletedName(webhook: Omit<WebhookFacts, "id"> | undefined, url?: string): string {
	if (webhook !== undefined) return `${isolated(webhookName(webhook))} ${DELETED}`;
	return url === undefined || !URL.canParse(url) ? "a deleted webhook" : `${new URL(url).host} ${DELETED}`;
}

/** A display name in two: what may be cut where space is scarce, and that the webhook was deleted, which may not. */
export const splitDeleted = (name: string): readonly [name: string, mark: string] =>
	name.endsWith(` ${DELETED}`) ? [name.slice(0, -DELETED.length - 1), DELETED] : [name, ""];

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

const isSame = (first: ResponseFacts, last: ResponseFacts) => responseWords(first).short === responseWords(last).short;

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

/** `Accounting has returned 500 since 14:02`, `Accounting, since 14:02 (connection refused)`. */
function hasFailed(webhook: WebhookFacts, health: HealthFacts, now: number): string {
	const name = nameInSentence(webhook);
	const { last_attempt: last, failing_since: first } = health;
	if (last === null || first === null || !health.down) {
		const words = recentFailures(health);
		return `${name}, where ${lowerFirst(words)}`;
	}
	const since = shortTime(Date.parse(first.started_at), now);
	if (!isSame(first, last)) return `${name}, since ${since}`;
	const { short } = responseWords(last);
	return last.status_code === null
		? `${name}, since ${since} (${short})`
		: `${name} has returned ${short} since ${since}`;
}

const isAre = (count: number) => (count === 1 ? "is" : "are");

/** `Both webhooks`, `All 3 webhooks`; of two or more. */
const allOf = (total: number, what: string) => (total === 2 ? `Both ${what}` : `All ${formatCount(total)} ${what}`);

/**
 * The first line of the overview: whether everything works and, if not, which webhook fails.
 *
 * @param days that the log keeps
 */
export function projectSentence(
	webhooks: readonly WebhookFacts[],
	healths: readonly HealthFacts[],
	now: number,
	days = Number.POSITIVE_INFINITY,
): string {
	const total = webhooks.length;
	if (total === 0) return "There are no webhooks, so nothing is sent.";
	const mute = webhooks.filter(lacksSecret);
	if (mute.length === 0) return sendingSentence(webhooks, healths, now, days);
	const said = `Nothing is sent to ${namesOf(mute)}: the service can't read ${mute.length === 1 ? "its signing secret" : "their signing secrets"}.`;
	const others = webhooks.filter((webhook) => !lacksSecret(webhook));
	return others.length === 0 ? said : `${said} ${sendingSentence(others, healths, now, days, "other ")}`;
}

/**
 * @param healths of all webhooks
 * @param other if a sentence about other webhooks precedes this one
 */
function sendingSentence(
	webhooks: readonly WebhookFacts[],
	healths: readonly HealthFacts[],
	now: number,
	days: number,
	other: "" | "other " = "",
): string {
	const total = webhooks.length;
	const byId = new Map(healths.map((health) => [health.webhook_id, health]));
	const shareOf = (count: number, state: string): string => {
		if (total === 1) return `${other === "" ? "Your" : "The other"} webhook is ${state}`;
		if (count === total) return `${allOf(total, `${other}webhooks`)} are ${state}`;
		return `${formatCount(count)} of ${formatCount(total)} ${other}webhooks ${isAre(count)} ${state}`;
	};
	const failing = webhooks.filter(({ id }) => byId.get(id)?.state === "failing");
	const [first] = failing;
	if (first !== undefined) {
		const health = byId.get(first.id);
		const who = failing.length === 1 && health !== undefined ? hasFailed(first, health, now) : namesOf(failing);
		// A name may have been cut.
		return `${shareOf(failing.length, "failing")}: ${who}${who.endsWith("…") ? "" : "."}${lateSentence(webhooks, byId, now)}`;
	}
	const inState = (state: HealthFacts["state"]) => webhooks.filter(({ id }) => byId.get(id)?.state === state);
	const count = (state: HealthFacts["state"]) => inState(state).length;
	const [unstable, healthy, paused, idle] = [count("unstable"), count("healthy"), count("paused"), inState("idle")];
	const isOlder = idle.some((webhook) => isOlderThanLog(webhook, byId.get(webhook.id)));
	const late = lateSentence(webhooks, byId, now);
	if (healthy === total) return `${shareOf(healthy, "healthy")}.${late}`;
	if (unstable > 0) {
		const affected = healths.filter(({ state }) => state === "unstable");
		const over = affected.every(({ failing_since, waiting }) => failing_since === null && waiting.count === 0);
		const dead = affected.reduce((sum, health) => sum + health.dead_letters, 0);
		// The list below the sentence has retries of all webhooks, those of tests included.
		const isCalm = healths.every(({ waiting, backlog }) => waiting.count === 0 && backlog.events === 0);
		const calm = isCalm ? ", but nothing is waiting now" : "";
		const rest = dead === 0 ? calm : `. ${plural(dead, "delivery")} failed for good`;
		const state = over ? `Attempts failed recently${rest}` : "Some attempts fail and are retried";
		return `${shareOf(unstable, "unstable")}: ${namesOf(inState("unstable"))}. ${state}.${late}`;
	}
	const parts = [
		healthy > 0 ? `${formatCount(healthy)} ${isAre(healthy)} healthy` : "",
		paused > 0 ? `${formatCount(paused)} ${isAre(paused)} paused` : "",
		idle.length > 0
			? `${formatCount(idle.length)} ${idle.length === 1 ? "has" : "have"} not been sent anything ${untilNow(isOlder, days)}`
			: "",
	].filter((part) => part !== "");
	return `No ${other}webhook is failing: ${parts.join(", ")}.${late}`;
}

/** The first line of the list: `4 webhooks, 1 is failing.` */
export function listSentence(healths: readonly Pick<HealthFacts, "state">[]): string {
	const total = healths.length;
	if (total === 0) return "Nothing is being sent.";
	const failing = healths.filter(({ state }) => state === "failing").length;
	const unstable = healths.filter(({ state }) => state === "unstable").length;
	const paused = healths.filter(({ state }) => state === "paused").length;
	const shared = Object.entries({ failing, unstable, paused }).find(([, count]) => count === total)?.[0];
	if (shared !== undefined) return `${total === 1 ? "Your webhook is" : `${allOf(total, "webhooks")} are`} ${shared}.`;
	if (total === 1) return "1 webhook.";
	const parts = [
		plural(total, "webhook"),
		failing === 0 ? "none is failing" : `${formatCount(failing)} ${isAre(failing)} failing`,
		...(unstable === 0 ? [] : [`${formatCount(unstable)} ${isAre(unstable)} unstable`]),
		...(paused === 0 ? [] : [`${formatCount(paused)} ${isAre(paused)} paused`]),
	];
	return `${parts.join(", ")}.`;
}

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
	const { backlog, dead_letters: dead, day } = health;
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
			if (backlog.events === 0 && testFailed) return { text: none, action: "test" };
			if (backlog.events === 0 && health.last_delivered_at !== null) {
				const at = timeAgo(Date.parse(health.last_delivered_at), now);
				return { text: `Tested: it accepted a test event ${at}. ${none}`, action: null };
			}
			return backlog.events === 0
				? { text: `${none} Send a test event to see whether it works.`, action: "test" }
				: { text: `${plural(backlog.events, "event")} about to be sent.`, action: null };
		case "healthy": {
			const last =
				health.last_delivered_at === null ? "" : `, the last ${timeAgo(Date.parse(health.last_delivered_at), now)}`;
			const accepted =
				day.delivered === 0
					? `Healthy. Its last event was accepted${last === "" ? "" : last.replace(", the last", "")}.`
					: `Healthy. ${plural(day.delivered, "delivery")} accepted in the last 24 hours${last}.`;
			if (isBehind(health, now)) {
				return {
					text: `Accepting events, but behind: ${backlogSentence(backlog, now)}. A slow receiver holds up later events; see Settings for how many may be in flight.`,
					action: null,
				};
			}
			return dead > 0 ? { text: `Healthy now. ${failed}.`, action: "replay" } : { text: accepted, action: null };
		}
	}
}

/** From this age of the oldest waiting event on, a webhook's lane is behind, in milliseconds. */
const BEHIND_MS = 60_000;

/**
 * When each webhook's oldest waiting event began to wait, the latest of those times, in milliseconds since 1970; 0 if none
 * waits. Passed to `useNow`, it keeps sentences about backlogs up to date.
 */
export const waitingSince = (healths: readonly Pick<HealthFacts, "backlog">[]): number =>
	healths.reduce((newest, { backlog }) => Math.max(newest, Date.parse(backlog.oldest_at ?? "") || 0), 0);

/** Whether events wait for their first attempt longer than they should, although the webhook is active. */
export const isBehind = ({ state, backlog }: Pick<HealthFacts, "state" | "backlog">, now: number) =>
	state !== "paused" && backlog.oldest_at !== null && now - Date.parse(backlog.oldest_at) >= BEHIND_MS;

type ById = ReadonlyMap<string, HealthFacts>;

/** Events that wait longer than they should: for webhooks that are behind, and for paused ones. */
const lateSentence = (webhooks: readonly WebhookFacts[], byId: ById, now: number): string =>
	behindSentence(webhooks, byId, now) + pausedSentence(webhooks, byId);

/** ` 8 events wait for Accounting, which is paused.`; "" if nothing waits for a paused webhook. */
function pausedSentence(webhooks: readonly WebhookFacts[], byId: ById): string {
	const paused = webhooks.flatMap((webhook) => {
		const health = byId.get(webhook.id);
		if (health?.state !== "paused") return [];
		const { total } = pendingOf(health);
		return total === 0 ? [] : [{ webhook, total }];
	});
	const [first] = paused;
	if (first === undefined) return "";
	const total = paused.reduce((sum, one) => sum + one.total, 0);
	const whom =
		paused.length === 1
			? `${nameInSentence(first.webhook)}, which is paused`
			: `${formatCount(paused.length)} webhooks that are paused`;
	// An event that waits for two webhooks is two deliveries.
	const what = paused.length === 1 ? plural(total, "event") : plural(total, "delivery");
	return ` ${what} ${total === 1 ? "waits" : "wait"} for ${whom}.`;
}

/** Names the webhooks that are behind: ` Accounting is behind: 12 events wait …`; "" if none is. */
function behindSentence(webhooks: readonly WebhookFacts[], byId: ById, now: number): string {
	const behind = webhooks.flatMap((webhook) => {
		const health = byId.get(webhook.id);
		return health !== undefined && isBehind(health, now) ? [{ webhook, health }] : [];
	});
	const [first] = behind;
	if (first === undefined) return "";
	if (behind.length === 1)
		return ` ${nameInSentence(first.webhook)} is behind: ${backlogSentence(first.health.backlog, now)}.`;
	return ` ${behind.length} are behind: ${namesOf(behind.map(({ webhook }) => webhook))}.`;
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

/** How many deliveries wait for a retry or a replay. */
export const deliveriesWaiting = ({ count, tests }: Waiting): number => count - tests;

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
