import { RETENTION } from "../../base/budgets.ts";

/** The first of these events, as many as one step may delete: at least one if there is one. */
export function withinStep<T extends { readonly bytes: unknown }>(events: readonly T[]): readonly T[] {
	let sum = 0;
	const end = events.findIndex(({ bytes }, i) => {
		sum += bytes as number;
		return i > 0 && sum > RETENTION.bytesPerStep;
	});
	return end < 0 ? events : events.slice(0, end);
}
