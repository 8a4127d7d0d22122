export interface Turns {
	/** Requests per side; the median counts. */
	readonly requests: number;
	/** Warm-up requests per side. */
	readonly warmUp: number;
}

/** The median of each call in milliseconds, measured in turn. */
export async function sideBySide<Calls extends readonly ((n: number) => Promise<unknown>)[]>(
	{ requests, warmUp }: Turns,
	...calls: Calls
): Promise<{ [Side in keyof Calls]: number }> {
	const times = calls.map((): number[] => []);
	for (let n = 0; n < warmUp + requests; n++)
		for (const [side, call] of calls.entries()) {
			const begun = performance.now();
			await call(n);
			if (n >= warmUp) times[side]!.push(performance.now() - begun);
		}
	return times.map(median) as { [Side in keyof Calls]: number };
}

/** The median; of an even number of values, the upper one. */
export function median(values: readonly number[]): number {
	return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}
