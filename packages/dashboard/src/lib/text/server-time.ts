/** What the difference between the server's clock and the browser's may be, in milliseconds. */
interface Difference {
	readonly atLeast: number;
	readonly atMost: number;
}

/** The header `Date` has whole seconds. */
const PRECISION_MS = 1_000;
const UNKNOWN: Difference = { atLeast: Number.NEGATIVE_INFINITY, atMost: Number.POSITIVE_INFINITY };

let known = UNKNOWN;

/**
 * Learns from a response's `Date` how far the browser's clock is off. Each response narrows it down; one that contradicts
 * the others, because a clock was set, replaces them.
 *
 * @param sentAt when the request was sent, and `receivedAt` when the response came, both by the browser's clock
 */
export function noteServerTime(date: string | null, sentAt: number, receivedAt: number): void {
	const at = date === null ? Number.NaN : Date.parse(date);
	if (Number.isNaN(at)) return;
	const one = { atLeast: at - receivedAt, atMost: at + PRECISION_MS - sentAt };
	const both = { atLeast: Math.max(known.atLeast, one.atLeast), atMost: Math.min(known.atMost, one.atMost) };
	known = both.atLeast <= both.atMost ? both : one;
}

/**
 * The current time by the server's clock, in milliseconds since 1970, to compare its times with. The browser's clock is
 * only corrected as far as responses show that it is wrong.
 */
export const serverNow = (): number => Date.now() + Math.min(Math.max(0, known.atLeast), known.atMost);

/** For tests. */
export const forgetServerTime = (): void => {
	known = UNKNOWN;
};
