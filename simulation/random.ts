/** Randomness from one seed, in named streams that don't affect each other. */
export interface Random {
	/** From 0 on, below 1. */
	float(): number;
	/** A whole number from `min` to `max`, both included. */
	between(min: number, max: number): number;
	/** True with this probability. */
	chance(probability: number): boolean;
	pick<T>(list: readonly T[]): T;
	/** Where a few are much larger than most: from `min` to `max`, each power of ten as likely as the next. */
	skewed(min: number, max: number): number;
	bytes(count: number): Buffer;
}

/** The stream of a seed with this name. The same names give the same numbers, each time. */
export function stream(seed: number | string, ...names: readonly (string | number)[]): Random {
	const next = generator(`${seed}/${names.join("/")}`);
	const float = (): number => next() / 0x1_0000_0000;
	const between = (min: number, max: number): number => min + Math.floor(float() * (max - min + 1));
	return {
		float,
		between,
		chance: (probability) => float() < probability,
		pick: (list) => list[between(0, list.length - 1)]!,
		skewed: (min, max) => Math.round(min * (max / min) ** float()),
		bytes(count) {
			const bytes = Buffer.allocUnsafe(count);
			for (let at = 0; at < count; at += 4) {
				let word = next();
				for (let i = at; i < Math.min(at + 4, count); i++, word >>>= 8) bytes[i] = word & 0xff;
			}
			return bytes;
		},
	};
}

/** sfc32 by Chris Doty-Humphrey (PractRand), started from a hash of the name; 32 bits a call. */
function generator(name: string): () => number {
	let [a, b, c] = hashOf(name);
	let counter = 1;
	const next = (): number => {
		const sum = (a + b + counter) | 0;
		counter = (counter + 1) | 0;
		a = b ^ (b >>> 9);
		b = (c + (c << 3)) | 0;
		c = ((c << 21) | (c >>> 11)) + sum;
		return sum >>> 0;
	};
	for (let i = 0; i < 12; i++) next();
	return next;
}

/** Three words of 32 bits (FNV-1a from three starts, mixed as in MurmurHash3). */
function hashOf(text: string): [number, number, number] {
	const words: [number, number, number] = [0x811c9dc5, 0x9e3779b9, 0x85ebca6b];
	for (let i = 0; i < text.length; i++) {
		const code = text.charCodeAt(i);
		for (let w = 0; w < 3; w++) words[w] = Math.imul(words[w]! ^ code, 0x01000193 + 2 * w);
	}
	return words.map((word) => {
		const mixed = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
		return Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35) | 0;
	}) as [number, number, number];
}
