import { performance } from "node:perf_hooks";

/** How often to check whether the service is idle. */
const LOOK_MS = 2_000;
/** At or below this utilization the thread counts as idle. */
const QUIET = 0.05;
/** At or above this utilization it creates garbage worth collecting. */
const BUSY = 0.2;
/** The fewest checks between two collections: one blocks the thread for tenths of a second if the heap is large. */
const REST_LOOKS = 15;

export interface Quiet {
	/** The main thread's utilization since the last call, 0 to 1. */
	readonly utilization: () => number;
	/** Releases as much memory as possible. */
	readonly collect: () => void;
}

/**
 * Releases memory that V8 would keep, whenever the service becomes idle after being busy, and first after startup. V8
 * only collects when memory is requested, so an idle service would stay as large as its last burst made it. Under load
 * collections are left to V8.
 *
 * Does nothing if `gc` is not exposed (see `bin/posthorn.mjs`).
 */
export function giveMemoryBackWhenQuiet(): void {
	const { gc } = globalThis;
	if (gc === undefined) return;
	const collect = () => gc({ type: "major", execution: "sync", flavor: "last-resort" });
	const look = lookForQuiet({ utilization: utilizationSince(), collect }, true);
	setInterval(look, LOOK_MS).unref();
}

/**
 * Returns the periodic check, which collects on the first idle check after a busy one, but not too often.
 *
 * @param wasBusy whether the thread was busy before the first check
 */
export function lookForQuiet({ utilization, collect }: Quiet, wasBusy = false): () => void {
	let rest = 0;
	return () => {
		const share = utilization();
		rest--;
		if (share >= BUSY) wasBusy = true;
		if (!wasBusy || share > QUIET || rest > 0) return;
		collect();
		// The collection itself doesn't count as load.
		utilization();
		wasBusy = false;
		rest = REST_LOOKS;
	};
}

function utilizationSince(): () => number {
	let last = performance.eventLoopUtilization();
	return () => {
		const now = performance.eventLoopUtilization();
		const { utilization } = performance.eventLoopUtilization(now, last);
		last = now;
		return utilization;
	};
}
