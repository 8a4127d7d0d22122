/** What became of an item: its result, or why it has none. */
export type Ran<R> = { readonly result: R } | { readonly error: unknown };

/**
 * Runs a batch. If some of its items make it fail, they are found by halves, and don't keep the others from running. If
 * the first two that are tried by themselves both fail, it isn't because of them: then nothing else is tried.
 *
 * @param run runs these items, in order; resolves with a result for each, or rejects without having run any
 * @param isPartial whether some of the items may be the reason for an error
 */
export async function runByHalves<T, R>(
	items: readonly T[],
	run: (items: readonly T[]) => Promise<readonly R[]>,
	isPartial: (error: unknown) => boolean,
): Promise<Ran<R>[]> {
	let hasRun = false;
	let failedAlone = 0;
	const runPart = async (part: readonly T[]): Promise<Ran<R>[]> => {
		let error: unknown;
		try {
			const results = await run(part);
			hasRun = true;
			return results.map((result) => ({ result }));
		} catch (cause) {
			error = cause;
		}
		if (part.length === 1) failedAlone++;
		if (part.length === 1 || !isPartial(error)) return part.map(() => ({ error }));
		const middle = Math.ceil(part.length / 2);
		const first = await runPart(part.slice(0, middle));
		const others = part.slice(middle);
		if (!hasRun && failedAlone > 1) return [...first, ...others.map(() => ({ error }))];
		return [...first, ...(await runPart(others))];
	};
	return runPart(items);
}
