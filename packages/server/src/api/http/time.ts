import { isoTime } from "@posthorn/protocol";

/** The notation of times, as a JSON Schema pattern. Its groups are the parts of a time. */
export const TIME_PATTERN =
	"^([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2})(?::([0-5][0-9])(?:\\.([0-9]{1,9}))?)?(?:Z|([+-])([0-9]{2}):([0-9]{2}))$";
const ISO_TIME = new RegExp(TIME_PATTERN);

/** The years 0 to 9999, which fit four digits. */
const FIRST_MS = -62_167_219_200_000;
const LAST_MS = 253_402_300_799_999;
const MINUTE_MS = 60_000;

/**
 * An ISO 8601 time with its zone (`Z` or an offset), such as `2026-11-21T03:47:36.123Z`, as milliseconds since the Unix
 * epoch; null for anything else, including dates and hours that don't exist. Digits beyond milliseconds are cut off.
 */
export function parseTime(text: string): number | null {
	const match = ISO_TIME.exec(text);
	if (!match) return null;
	const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0)) as Six;
	const [fraction = "", sign, zoneHour = "0", zoneMinute = "0"] = match.slice(7);
	const at = new Date(0);
	at.setUTCFullYear(year, month - 1, day);
	at.setUTCHours(hour, minute, second, Number(fraction.slice(0, 3).padEnd(3, "0")));
	const exists = at.getUTCMonth() === month - 1 && at.getUTCDate() === day && hour < 24 && minute < 60 && second < 60;
	if (!exists || Number(zoneHour) > 23 || Number(zoneMinute) > 59) return null;
	const offset = (Number(zoneHour) * 60 + Number(zoneMinute)) * MINUTE_MS * (sign === "-" ? -1 : 1);
	const ms = at.getTime() - offset;
	return ms >= FIRST_MS && ms <= LAST_MS ? ms : null;
}

type Six = [number, number, number, number, number, number];

/** ISO 8601 in UTC with milliseconds. */
export function formatTime(ms: number): string {
	return isoTime(ms);
}

export function formatTimeOrNull(ms: number | null): string | null {
	return ms === null ? null : formatTime(ms);
}

/** The range between two times that passed their schema. */
export function timeRange(since?: string, until?: string): { since?: number; until?: number } {
	const from = since === undefined ? null : parseTime(since);
	const to = until === undefined ? null : parseTime(until);
	return { ...(from !== null && { since: from }), ...(to !== null && { until: to }) };
}
