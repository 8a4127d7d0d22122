let lastMs = Number.NaN;
let lastText = "";

/**
 * ISO 8601 in UTC with milliseconds, such as `2026-11-21T03:47:36.123Z`. Remembers what it was asked last: the events of a
 * batch mostly have one time. Throws a RangeError for what is no time.
 */
export function isoTime(ms: number): string {
	if (ms !== lastMs) {
		lastText = new Date(ms).toISOString();
		lastMs = ms;
	}
	return lastText;
}
