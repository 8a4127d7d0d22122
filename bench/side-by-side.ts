export interface Turns {
	/** Requests per side; the median counts. */
	readonly requests: number;
	/** Warm-up requests per side. */
	readonly warmUp: number;
}

/** Both medians in milliseconds, measured alternately. */
export async function sideBySide(
	{ requests, warmUp }: Turns,
	one: (n: number) => Promise<unknown>,
	other: (n: number) => Promise<unknown>,
): Promise<[number, number]> {
	const times: [number[], number[]] = [[], []];
	for (let n = 0; n < warmUp + requests; n++)
		for (const [side, call] of [one, other].entries()) {
			const begun = performance.now();
			await call(n);
			if (n >= warmUp) times[side]!.push(performance.now() - begun);
		}
	return [median(times[0]), median(times[1])];
}

/** The median; of an even number of values, the upper one. */
export function median(values: readonly number[]): number {
	return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}
