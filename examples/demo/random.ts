/** Pseudorandom numbers from a seed, so that a run can be repeated. */
export interface Random {
	/** From 0 up to, but not including, 1. */
	next(): number;
	/** From `low` up to, but not including, `high`. */
	between(low: number, high: number): number;
	/** A whole number from `low` to `high`, both included. */
	whole(low: number, high: number): number;
	/** One of `list`, which must not be empty. */
	pick<T>(list: readonly T[]): T;
}

/** The mulberry32 generator: 32 bits of state are plenty for a demonstration, but never for secrets. */
export function createRandom(seed: number): Random {
	let state = seed >>> 0;
	const next = (): number => {
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
	const whole = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
	return {
		next,
		between: (low, high) => low + next() * (high - low),
		whole,
		pick(list) {
			const picked = list[whole(0, list.length - 1)];
			if (picked === undefined) throw new RangeError("Can't pick from an empty list.");
			return picked;
		},
	};
}

/** Derives a seed from text with 32-bit FNV-1a. */
export function seedFrom(text: string): number {
	let hash = 0x811c9dc5;
	for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
	return hash >>> 0;
}
