/** Classes of response times for each doubling. */
export const PER_OCTAVE = 4;

/** The class of what was closed without a request: it took no time that means anything. */
export const NOT_SENT = -1;

/**
 * The class under which an attempt's response time is counted. Class 0 begins at 1 ms, class k at 2^(k/4) ms: neighbours
 * lie 19% apart, so a class's middle is within a tenth of each time in it.
 */
export function responseClass({ sent, responseMs }: { sent: object | null; responseMs: number }): number {
	return sent === null ? NOT_SENT : Math.floor(PER_OCTAVE * Math.log2(Math.max(responseMs, 1)));
}
