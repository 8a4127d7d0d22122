const COUNT = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const COMPACT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/** A whole number with separators: `12,345`. */
export const formatCount = (count: number) => COUNT.format(count);

/** A whole number in compact form: `12.3K` from 10,000 on. */
export const compactCount = (count: number) => (count < 10_000 ? COUNT.format(count) : COMPACT.format(count));

/** A duration: `84 ms`, `1.24 s`, `15.0 s`, `2 min 5 s`. */
export function formatMs(ms: number): string {
	// A value that rounds up to the next range is written as in that one.
	if (ms < 999.5) return `${Math.round(ms)} ms`;
	if (ms < 9_995) return `${(ms / 1_000).toFixed(2)} s`;
	if (ms < 59_950) return `${(ms / 1_000).toFixed(1)} s`;
	const seconds = Math.round(ms / 1_000);
	return seconds % 60 === 0 ? `${seconds / 60} min` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** A duration on an axis: `500 ms`, `20.0 s`, `150 s`. Its steps are rarely whole minutes. */
export const formatAxisMs = (ms: number): string => (ms < 60_000 ? formatMs(ms) : `${formatCount(ms / 1_000)} s`);

/** A time that is only known to a tenth, without digits that say more: `~84 ms`, `~7.5 s`; `–` for null. */
export function formatAboutMs(ms: number | null): string {
	if (ms === null) return "–";
	const about = Number(ms.toPrecision(2));
	return about < 1_000 ? `~${about} ms` : `~${about / 1_000} s`;
}

/** A share of 1 as a percentage that is 100% or 0% only if exact: `99.9%`, `<0.1%`; `–` for null. */
export function formatRate(rate: number | null): string {
	if (rate === null) return "–";
	if (rate === 1 || rate === 0) return `${rate * 100}%`;
	const percent = rate * 100;
	if (percent > 99.9) return "99.9%";
	if (percent < 0.1) return "<0.1%";
	return `${percent.toFixed(1)}%`;
}

/** `1 webhook`, `4 deliveries`; by default, with the plural of regular nouns. */
export function plural(count: number, one: string, many = `${one.replace(/([^aeiou])y$/, "$1ie")}s`): string {
	return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** `is` for one, otherwise `are`. */
export const isAre = (count: number) => (count === 1 ? "is" : "are");

/** `Both webhooks`, `All 3 webhooks`; of two or more. */
export const allOf = (total: number, what: string) =>
	total === 2 ? `Both ${what}` : `All ${formatCount(total)} ${what}`;

/** What a search in a list has found: `3 of 40 webhooks match.` */
export const matchSentence = (found: number, total: number, one: string): string =>
	found === 0
		? `None of ${plural(total, one)} matches.`
		: `${formatCount(found)} of ${plural(total, one)} ${found === 1 ? "matches" : "match"}.`;

/** Bytes in readable units: `512 B`, `1.5 KiB`. */
export function formatBytes(bytes: number): string {
	if (bytes < 1_024) return `${bytes} B`;
	if (bytes < 1_024 * 1_024) return `${(bytes / 1_024).toFixed(1)} KiB`;
	return `${(bytes / 1_024 / 1_024).toFixed(1)} MiB`;
}
