/** An axis of values from 0 on. */
export interface Scale {
	readonly max: number;
	/** Evenly spaced, from 0 to `max`. */
	readonly ticks: readonly number[];
}

const STEPS = [1, 2, 5, 10] as const;
const INTERVALS = 4;

/** The smallest scale of round whole numbers that reaches `largest`. */
export function scaleTo(largest: number): Scale {
	const rough = Math.max(1, largest / INTERVALS);
	const power = 10 ** Math.floor(Math.log10(rough));
	const step = (STEPS.find((one) => one * power >= rough) ?? 10) * power;
	const count = Math.max(1, Math.ceil(largest / step));
	return { max: count * step, ticks: Array.from({ length: count + 1 }, (_, index) => index * step) };
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** The round times that get a label, and how long bars are. A label moves with its bar, so that labels never jump. */
const EVERY = {
	hour: { ms: 10 * MINUTE_MS, bar: MINUTE_MS, local: true },
	day: { ms: 4 * HOUR_MS, bar: HOUR_MS, local: true },
	month: { ms: 5 * DAY_MS, bar: DAY_MS, local: false },
} as const;

/**
 * Which of the bars beginning at these times, in milliseconds since 1970, are labelled: those at round times. Where local
 * hours begin within a bar, as in India, the first one after a round time is.
 */
export function axisLabels(times: readonly number[], range: keyof typeof EVERY): readonly number[] {
	const { ms, bar, local } = EVERY[range];
	return times.flatMap((at, index) => {
		const offset = local ? new Date(at).getTimezoneOffset() * MINUTE_MS : 0;
		return (at - offset) % ms < bar ? [index] : [];
	});
}
