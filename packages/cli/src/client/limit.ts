import { UsageError } from "../command-error.ts";

/** The value of `--limit`. @throws UsageError */
export function parseLimit(text: string): number {
	if (!/^[1-9]\d{0,5}$/.test(text))
		throw new UsageError([`--limit is "${text}"; give a whole number from 1 to 999999.`]);
	return Number(text);
}
