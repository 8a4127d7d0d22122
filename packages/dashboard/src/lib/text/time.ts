import { HOLDS, type Hold } from "./hold.ts";
import { plural } from "./numbers.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const pad = (value: number, digits = 2) => String(value).padStart(digits, "0");

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"] as const;

/** The units of a coarse span, and how many of them it has at most. */
const UNITS = [
	["s", "second", SECOND, 59],
	["min", "minute", MINUTE, 59],
	["h", "hour", HOUR, 47],
	["d", "day", DAY, Number.POSITIVE_INFINITY],
] as const;

/** A span in its largest unit: `<1 s`, `45 s`, `4 min`, `3 h`, `12 d`. By default, rounded down, as ages are. */
export function coarseSpan(ms: number, round: (count: number) => number = Math.floor): string {
	const { count, short } = inLargestUnit(ms, round);
	return count === 0 ? "<1 s" : `${count} ${short}`;
}

function inLargestUnit(ms: number, round: (count: number) => number) {
	const span = Math.max(0, ms);
	const [short, word, unit] = UNITS.find(([, , size, most]) => round(span / size) <= most) ?? UNITS[3];
	return { count: round(span / unit), short, word };
}

/** A rough length of time in words: `about 45 seconds`, `about 1 hour 50 minutes`, `about 2 days 3 hours`. */
export function aboutSpan(ms: number): string {
	if (ms < MINUTE) return `about ${plural(Math.max(1, Math.round(ms / SECOND)), "second")}`;
	const step = ms < HOUR ? MINUTE : ms < DAY ? 10 * MINUTE : HOUR;
	const span = Math.round(ms / step) * step;
	const parts = [
		[Math.floor(span / DAY), "day"],
		[Math.floor((span % DAY) / HOUR), "hour"],
		[(span % HOUR) / MINUTE, "minute"],
	] as const;
	const words = parts.filter(([count]) => count > 0).map(([count, unit]) => plural(count, unit));
	return `about ${words.join(" ")}`;
}

/**
 * When something happened: `just now`, `4 min ago`; after 30 days the date. Clocks differ, but nothing that happened is in
 * the future. Both in milliseconds since 1970.
 */
export function timeAgo(at: number, now: number): string {
	if (now - at >= 30 * DAY || at - now >= DAY) return calendarDay(at);
	if (isAhead(at, now)) return timeOfDay(at);
	return now - at < 5 * SECOND ? "just now" : `${coarseSpan(now - at)} ago`;
}

/** Whether a past time was written while the service's clock was ahead: clocks may differ by less than this. */
export const isAhead = (at: number, now: number): boolean => at - now >= MINUTE;

/**
 * When something planned happens: `in 30 s`, to the nearest unit, so that what is valid for 7 days ends `in 7 d`; beyond 30
 * days the date; once it has, like {@link timeAgo}.
 */
export function timeUntil(at: number, now: number): string {
	if (at - now >= 30 * DAY) return calendarDay(at);
	return at - now > SECOND ? `in ${coarseSpan(at - now, Math.round)}` : timeAgo(at, now);
}

/** Like {@link timeUntil}, for sentences: `in 7 days`. */
export function timeUntilInWords(at: number, now: number): string {
	const ms = at - now;
	if (ms <= SECOND || ms >= 30 * DAY) return timeUntil(at, now);
	const { count, word } = inLargestUnit(ms, Math.round);
	return `in ${plural(count, word)}`;
}

/** Whether a retry's time has come, so that it's being sent. */
export const isDue = (at: number, now: number): boolean => at - now <= SECOND;

/** When a retry is sent: `in 30 s`, `being sent` once its time has come; `when resumed` or the like while nothing is sent. */
export function dueWords(at: number, now: number, hold: Hold | null = null): string {
	if (hold !== null) return HOLDS[hold].due;
	return isDue(at, now) ? "being sent" : timeUntil(at, now);
}

/** The local day: `21 Nov 2026`. */
export function calendarDay(at: number): string {
	const date = new Date(at);
	return `${date.getDate()} ${MONTHS[date.getMonth()]} ${date.getFullYear()}`;
}

/** The local time of day: `14:02`, or `14:02:11` with seconds. */
export function timeOfDay(at: number, { seconds = false }: { seconds?: boolean } = {}): string {
	const date = new Date(at);
	const time = `${pad(date.getHours())}:${pad(date.getMinutes())}`;
	return seconds ? `${time}:${pad(date.getSeconds())}` : time;
}

/** `21 Nov 2026, 14:02`, in local time. */
export const calendarTime = (at: number): string => `${calendarDay(at)}, ${timeOfDay(at)}`;

/** `20 Nov` in the same local year as `now`, otherwise with the year; null on the same local day. */
export function otherDay(at: number, now: number): string | null {
	const date = new Date(at);
	const today = new Date(now);
	if (date.toDateString() === today.toDateString()) return null;
	const day = `${date.getDate()} ${MONTHS[date.getMonth()]}`;
	return date.getFullYear() === today.getFullYear() ? day : `${day} ${date.getFullYear()}`;
}

/** The time of day, with the day before it unless that is today: `14:02`, `20 Nov, 14:02`. */
export function shortTime(at: number, now: number, options?: Parameters<typeof timeOfDay>[1]): string {
	const day = otherDay(at, now);
	return `${day === null ? "" : `${day}, `}${timeOfDay(at, options)}`;
}

/** The exact local time with its offset: `21 Nov 2026, 15:02:11.123 (UTC+1)`. */
export function exactLocal(at: number): string {
	const date = new Date(at);
	return `${calendarDay(at)}, ${timeOfDay(at, { seconds: true })}.${pad(date.getMilliseconds(), 3)} (${utcOffset(at)})`;
}

/** Whether local time is UTC at that time, so that showing both would say the same twice. */
export const isLocalUtc = (at: number) => new Date(at).getTimezoneOffset() === 0;

/** `2026-11-21`, in UTC. */
export const dateUtc = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** The exact time in UTC: `2026-11-21 14:02:11.123 UTC`. */
export function exactUtc(at: number): string {
	return `${new Date(at).toISOString().replace("T", " ").replace("Z", "")} UTC`;
}

/** How far local time is from UTC at that time: `UTC+5:30`. */
export function utcOffset(at: number): string {
	const minutes = -new Date(at).getTimezoneOffset();
	if (minutes === 0) return "UTC";
	const rest = Math.abs(minutes) % 60;
	const hours = Math.trunc(Math.abs(minutes) / 60);
	return `UTC${minutes < 0 ? "−" : "+"}${hours}${rest === 0 ? "" : `:${pad(rest)}`}`;
}

/** How long until a relative time may change, in milliseconds. */
export function refreshAfter(at: number, now: number): number {
	const span = Math.abs(at - now);
	if (span < MINUTE) return SECOND;
	const [unit, pause] = span < HOUR ? [MINUTE, 15 * SECOND] : [HOUR, MINUTE];
	// Times to come get smaller units: without this, the last minute would begin up to 15 seconds late.
	return at > now ? Math.min(pause, Math.max(SECOND, span - unit)) : pause;
}
