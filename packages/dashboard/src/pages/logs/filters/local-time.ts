const pad = (value: number) => String(value).padStart(2, "0");

/** A time as the value of a `datetime-local` field, in local time to the minute: `2026-11-21T15:02`; "" for none. */
export function toLocalField(iso: string | undefined): string {
	if (iso === undefined) return "";
	const date = new Date(iso);
	const day = `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
	return `${day}T${pad(date.getHours())}:${pad(date.getMinutes())}`;
}

/** With seconds if the browser supports them. */
const COMPLETE = /^\d{4,6}-\d\d-\d\dT\d\d:\d\d/;

/**
 * Such a field's time, in ISO 8601 and UTC; undefined if it is empty.
 *
 * @param before the time that the field showed first. It is returned if the field wasn't changed: the field has no seconds,
 * and is ambiguous in the hour that the end of daylight saving time repeats.
 */
export function fromLocalField(value: string, before?: string): string | undefined {
	if (value === toLocalField(before)) return before;
	const at = COMPLETE.test(value) ? Date.parse(value) : Number.NaN;
	return Number.isNaN(at) ? undefined : new Date(at).toISOString();
}

const REST_OF_MINUTE_MS = 59_999;

/** As {@link fromLocalField}, but the end of the minute that was entered: a range to 23:59 includes all of it. */
export function endFromLocalField(value: string, before?: string): string | undefined {
	const at = fromLocalField(value, before);
	return at === undefined || at === before ? at : new Date(Date.parse(at) + REST_OF_MINUTE_MS).toISOString();
}
