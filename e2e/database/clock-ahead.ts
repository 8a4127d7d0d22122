/**
 * Preloaded into a node, it sets the node's wall clock ahead: by CLOCK_AHEAD_MS, or an hour. Timers and
 * `performance.now` use the monotonic clock, as on a machine whose wall clock is wrong.
 */
const AHEAD_MS = Number(process.env.CLOCK_AHEAD_MS ?? 3_600_000);
const { now } = Date;
const ahead = (): number => now() + AHEAD_MS;

globalThis.Date = class extends Date {
	constructor(...given: []) {
		super(...((given.length === 0 ? [ahead()] : given) as []));
	}
	static override now(): number {
		return ahead();
	}
} as DateConstructor;
