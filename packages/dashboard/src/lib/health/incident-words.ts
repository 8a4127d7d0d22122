import { responseWords } from "../attempts/attempt-words.ts";
import { upperFirst } from "../text/case.ts";
import { formatCount, plural } from "../text/numbers.ts";
import { shortTime } from "../text/time.ts";

/** The fields of an incident that its words need. */
export interface IncidentFacts {
	readonly state: "ongoing" | "over";
	readonly started_at: string;
	readonly ended_at: string | null;
	readonly status_code: number | null;
	readonly error_code: string | null;
	readonly deliveries: {
		readonly count: number;
		readonly capped: boolean;
		readonly delivered: number;
		readonly waiting: number;
		readonly failed: number;
		readonly dismissed: number;
	};
	readonly last_delivered_at: string | null;
}

/**
 * `10:34–11:20`, its first and last minute, with the day unless that is today, and with both days if they differ;
 * `Since 10:34` while it is ongoing, `From 10:34` if that is paused.
 */
export function incidentSpan({ state, started_at, ended_at }: IncidentFacts, now: number, paused = false): string {
	const from = Date.parse(started_at);
	if (state === "ongoing" || ended_at === null) return `${paused ? "From" : "Since"} ${shortTime(from, now)}`;
	// It ends with that minute, so its end may not have come yet.
	const until = Date.parse(ended_at) - 1;
	if (until - from < 60_000) return shortTime(from, now);
	return `${shortTime(from, now)}–${shortTime(until, from)}`;
}

/**
 * `Returning 500` while it is ongoing, then `Returned 500`; `Timeout` if there was no response. After all of its
 * deliveries were delivered, an incident remains ongoing for a few minutes, although nothing fails anymore. One whose
 * webhook is paused remains so, although nothing is sent.
 */
export function incidentCause({ state, status_code, error_code, deliveries }: IncidentFacts, paused = false): string {
	const { short } = responseWords({ status_code, error_code });
	const isOver = state === "over" || isRecovered(deliveries);
	if (status_code === null) return paused && !isOver ? `Failed until it was paused: ${short}` : upperFirst(short);
	if (isOver) return `Returned ${short}`;
	return paused ? `Returned ${short} until it was paused` : `Returning ${short}`;
}

const isRecovered = ({ count, capped, delivered }: IncidentFacts["deliveries"]): boolean =>
	!capped && count > 0 && delivered === count;

/** `80 deliveries held up, all delivered by 11:31.` */
export function incidentResult({ deliveries, last_delivered_at }: IncidentFacts, now: number): string {
	const { count, capped, delivered, waiting, failed, dismissed } = deliveries;
	if (count === 0) return "Its deliveries are no longer in the log.";
	const held = `${capped ? "At least " : ""}${plural(count, "delivery")} held up`;
	if (delivered === count && !capped && last_delivered_at !== null) {
		const by = shortTime(Date.parse(last_delivered_at), now);
		return `${held}, ${count === 1 ? "delivered" : count === 2 ? "both delivered" : "all delivered"} by ${by}.`;
	}
	const parts = [
		[delivered, "delivered"],
		[waiting, "waiting"],
		[failed, "failed for good"],
		[dismissed, "dismissed"],
	] as const;
	const rest = parts.filter(([number]) => number > 0).map(([number, words]) => `${formatCount(number)} ${words}`);
	if (rest.length === 1 && count > 1 && !capped)
		return `${held}, ${count === 2 ? "both" : "all"} ${parts.find(([number]) => number > 0)?.[1]}.`;
	return `${held}${capped ? `. Of the newest ${formatCount(count)}` : ""}: ${rest.join(", ")}.`;
}

/**
 * The action that closes an incident: retrying pending deliveries or replaying failed ones. Null if none is needed, or
 * while it is ongoing.
 */
export function incidentAction({ state, deliveries }: IncidentFacts): "retry" | "replay" | null {
	if (state === "ongoing") return null;
	if (deliveries.waiting > 0) return "retry";
	return deliveries.failed > 0 ? "replay" : null;
}
