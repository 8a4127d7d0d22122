/** A step of the sweep deletes events with at most this many bytes of bodies, however few events that is. */
const STEP_BYTES = 16_777_216;

/** The first of these events, as many as one step may delete: at least one if there is one. */
export function withinStep<T extends { readonly bytes: unknown }>(events: readonly T[]): readonly T[] {
	let sum = 0;
	const end = events.findIndex(({ bytes }, i) => {
		sum += bytes as number;
		return i > 0 && sum > STEP_BYTES;
	});
	return end < 0 ? events : events.slice(0, end);
}
