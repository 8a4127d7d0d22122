let lastMs = Number.NaN;
let lastText = "";

/**
 * ISO 8601 in UTC with milliseconds, such as `2026-11-21T03:47:36.123Z`. Caches the last result, because the events
 * of a batch mostly share one time. Throws a RangeError for an invalid time.
 */
export function isoTime(ms: number): string {
	if (ms !== lastMs) {
		lastText = new Date(ms).toISOString();
		lastMs = ms;
	}
	return lastText;
}

export const isoTimeOrNull = (ms: number | null): string | null => (ms === null ? null : isoTime(ms));
