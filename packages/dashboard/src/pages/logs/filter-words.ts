import type { AttemptCount, AttemptStatus, Span } from "../../api/attempts.ts";
import { shortId } from "../../lib/ids.ts";
import { formatCount } from "../../lib/numbers.ts";
import { shortTime } from "../../lib/time.ts";
import type { FilterName, LogsSearch } from "./search.ts";

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
	if (since !== undefined && until !== undefined) return `from ${at(since)} to ${at(until)}`;
	if (since !== undefined) return `since ${at(since)}`;
	return until === undefined ? "" : `before ${at(until)}`;
}

/** What the filters select, to follow a count: `to Accounting that failed for good, in the last hour`; "" for all. */
export function filterPhrase(search: LogsSearch, nameOf: NameOf, now: number): string {
	const { webhook_id, type, status, event_id } = search;
	const what = [
		type === undefined ? "" : `of ${type}`,
		event_id === undefined ? "" : `of event ${shortId(event_id)}`,
		webhook_id === undefined ? "" : `to ${nameOf(webhook_id)}`,
		status === undefined ? "" : STATUS_WORDS[status],
	]
		.filter((part) => part !== "")
		.join(" ");
	const when = timeWords(search, now);
	return [what, when].filter((part) => part !== "").join(what === "" ? "" : ", ");
}

/** The page's first line: `312 attempts to Accounting that failed for good, in the last hour.` */
export function logSentence(search: LogsSearch, { count, capped }: AttemptCount, nameOf: NameOf, now: number): string {
	const phrase = filterPhrase(search, nameOf, now);
	const many = capped ? `${formatCount(count)} or more attempts` : count === 1 ? "1 attempt" : "";
	const number = many !== "" ? many : count === 0 ? "No attempt" : `${formatCount(count)} attempts`;
	if (phrase === "") return count === 0 ? "Nothing has been sent yet." : `${number} in the log, newest first.`;
	return `${number} ${phrase}.`;
}

/** An active filter, as short as possible. */
export interface FilterChip {
	readonly name: FilterName;
	readonly label: string;
}

export const STATUS_LABELS: Readonly<Record<AttemptStatus, string>> = {
	delivered: "Delivered",
	retrying: "Retrying",
	failed: "Failed",
};

/** The active filters, in the order of their fields. */
export function filterChips(search: LogsSearch, nameOf: NameOf, now: number): readonly FilterChip[] {
	const { webhook_id, type, status, event_id } = search;
	const when = timeWords(search, now);
	return [
		...(event_id === undefined ? [] : [{ name: "event_id", label: shortId(event_id) } as const]),
		...(webhook_id === undefined ? [] : [{ name: "webhook_id", label: nameOf(webhook_id) } as const]),
		...(type === undefined ? [] : [{ name: "type", label: type } as const]),
		...(status === undefined ? [] : [{ name: "status", label: STATUS_LABELS[status] } as const]),
		...(when === "" ? [] : [{ name: "time", label: `${when.charAt(0).toUpperCase()}${when.slice(1)}` } as const]),
	];
}
