import type { AttemptCount, Span } from "../../../api/attempts.ts";
import { type AttemptStatus, ERROR_LABELS } from "../../../lib/attempts/attempt-words.ts";
import { shortId } from "../../../lib/text/ids.ts";
import { inertText } from "../../../lib/text/inert-text.ts";
import { listWithOr } from "../../../lib/text/list.ts";
import { isolated } from "../../../lib/text/names.ts";
import { formatCount } from "../../../lib/text/numbers.ts";
import { shortTime } from "../../../lib/text/time.ts";
import { type ListName, type LogsSearch, valuesOf, withValues } from "../search.ts";

/** A webhook's display name by its id. */
export type NameOf = (webhookId: string) => string;

const SPAN_WORDS: Readonly<Record<Span, string>> = {
	hour: "the last hour",
	day: "the last 24 hours",
	week: "the last 7 days",
};

const STATUS_WORDS: Readonly<Record<AttemptStatus, string>> = {
	delivered: "that delivered their event",
	retrying: "that failed and were due for a retry",
	failed: "that failed for good",
};

function timeWords({ span, since, until }: LogsSearch, now: number): string {
	const at = (time: string) => shortTime(Date.parse(time), now);
	if (span !== undefined) return `in ${SPAN_WORDS[span]}`;
	if (since !== undefined && until !== undefined)
		return `from ${at(since)} to ${shortTime(Date.parse(until), Date.parse(since))}`;
	if (since !== undefined) return `since ${at(since)}`;
	return until === undefined ? "" : `before ${at(until)}`;
}

const responseWords = (code: string): string => (Object.hasOwn(ERROR_LABELS, code) ? ERROR_LABELS[code]! : code);

/** What the filters select, to follow a count: `to Accounting that failed for good, in the last hour`; "" for all. */
export function filterPhrase(search: LogsSearch, nameOf: NameOf, now: number): string {
	const { event_id } = search;
	const list = (name: ListName, before: string, words: (value: string) => string = (value) => value) => {
		const values = valuesOf(search, name);
		return values.length === 0 ? "" : `${before}${listWithOr(values.map((value) => isolated(words(value))))}`;
	};
	const what = [
		list("type", "of "),
		event_id === undefined ? "" : `of event ${shortId(event_id)}`,
		list("order_id", "of order ", inertText),
		list("customer_email", "of ", inertText),
		list("webhook_id", "to ", nameOf),
		list("status", "", (status) => STATUS_WORDS[status as AttemptStatus]),
		list("response", "that ended with ", responseWords),
	]
		.filter((part) => part !== "")
		.join(" ");
	const when = timeWords(search, now);
	const tests = search.test === false ? "without tests" : "";
	return [what, when, tests].filter((part) => part !== "").join(", ");
}

/** The page's first line: `312 attempts to Accounting that failed for good, in the last hour.` */
export function logSentence(search: LogsSearch, { count, capped }: AttemptCount, nameOf: NameOf, now: number): string {
	const phrase = filterPhrase(search, nameOf, now);
	const many = capped ? `${formatCount(count)} or more attempts` : count === 1 ? "1 attempt" : "";
	const number = many !== "" ? many : count === 0 ? "No attempt" : `${formatCount(count)} attempts`;
	if (phrase === "") return count === 0 ? "The log is empty." : `${number} in the log, newest first.`;
	return `${number} ${phrase}.`;
}

export const STATUS_LABELS: Readonly<Record<AttemptStatus, string>> = {
	delivered: "Delivered",
	retrying: "Retried",
	failed: "Failed",
};

/** An active filter that has no field of its own, and the search without it. */
export interface FilterChip {
	readonly label: string;
	readonly without: LogsSearch;
}

function withTests({ test: _, ...search }: LogsSearch): LogsSearch {
	return search;
}

export function filterChips(search: LogsSearch): readonly FilterChip[] {
	const { event_id, ...rest } = search;
	const each = (name: "order_id" | "customer_email", label: (value: string) => string) => {
		const values = valuesOf(search, name);
		return values.map((value) => ({
			label: label(value),
			without: withValues(
				search,
				name,
				values.filter((other) => other !== value),
			),
		}));
	};
	return [
		...(event_id === undefined ? [] : [{ label: `Event ${shortId(event_id)}`, without: rest }]),
		...each("order_id", (value) => `Order ${isolated(inertText(value))}`),
		...each("customer_email", inertText),
		...(search.test === undefined ? [] : [{ label: "Without tests", without: withTests(search) }]),
	];
}
