import { responseWords } from "../attempts/attempt-words.ts";
import { pendingOf } from "../attempts/pending.ts";
import { lowerFirst } from "../text/case.ts";
import { allOf, formatCount, isAre, plural } from "../text/numbers.ts";
import { shortTime } from "../text/time.ts";
import { type HealthFacts, isBehind, isOlderThanLog, lacksSecret, type WebhookFacts } from "./health-facts.ts";
import { nameInSentence, namesOf } from "./webhook-name.ts";
import { backlogSentence, isSame, recentFailures, untilNow } from "./webhook-words.ts";

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
	const inState = (state: HealthFacts["state"]) => webhooks.filter(({ id }) => byId.get(id)?.state === state);
	const late = lateSentence(webhooks, byId, now);
	const failing = inState("failing");
	const [first] = failing;
	if (first !== undefined) {
		const health = byId.get(first.id);
		const who = failing.length === 1 && health !== undefined ? hasFailed(first, health, now) : namesOf(failing);
		// A name may have been cut.
		return `${shareOf(failing.length, "failing")}: ${who}${who.endsWith("…") ? "" : "."}${late}`;
	}
	const unstable = inState("unstable");
	const idle = inState("idle");
	const healthy = inState("healthy").length;
	const paused = inState("paused").length;
	const isOlder = idle.some((webhook) => isOlderThanLog(webhook, byId.get(webhook.id)));
	if (healthy === total) return `${shareOf(healthy, "healthy")}.${late}`;
	if (unstable.length > 0) {
		const affected = healths.filter(({ state }) => state === "unstable");
		const over = affected.every(({ failing_since, waiting }) => failing_since === null && waiting.count === 0);
		const dead = affected.reduce((sum, health) => sum + health.dead_letters, 0);
		// The list below the sentence has retries of all webhooks, those of tests included.
		const isCalm = healths.every(({ waiting, backlog }) => waiting.count === 0 && backlog.events === 0);
		const calm = isCalm ? ", but nothing is waiting now" : "";
		const rest = dead === 0 ? calm : `. ${plural(dead, "delivery")} failed for good`;
		const state = over ? `Attempts failed recently${rest}` : "Some attempts fail and are retried";
		return `${shareOf(unstable.length, "unstable")}: ${namesOf(unstable)}. ${state}.${late}`;
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
