import { performance } from "node:perf_hooks";

/** How often it is looked at whether the service is quiet. */
const LOOK_MS = 2_000;
/** Up to this share of its time a thread does next to nothing … */
const QUIET = 0.05;
/** … and from this on it makes garbage worth collecting. */
const BUSY = 0.2;
/** After collecting, so many looks pass before the next: it takes some tenths of a second with a large heap, and nothing else runs. */
const REST_LOOKS = 15;

export interface Quiet {
	/** The share of time since the last call that the main thread was busy, 0 to 1. */
	readonly utilization: () => number;
	/** Gives back all that can be. */
	readonly collect: () => void;
}

/**
 * Gives memory back that V8 would keep: now, for what starting up left behind, and whenever the service becomes quiet
 * after it was busy. V8 collects when memory is asked for; a service that has nothing to do asks for none, and would
 * stay as large as its last burst made it. While there is work nothing is collected beyond what V8 does by itself.
 *
 * Does nothing where `gc` is not exposed (see `bin/posthorn.mjs`).
 */
export function giveMemoryBackWhenQuiet(): void {
	const { gc } = globalThis;
	if (gc === undefined) return;
	const collect = () => gc({ type: "major", execution: "sync", flavor: "last-resort" });
	collect();
	const look = lookForQuiet({ utilization: utilizationSince(), collect });
	setInterval(look, LOOK_MS).unref();
}

/** What is called each time that it is looked: collects at the first quiet look after a busy one, now and then at most. */
export function lookForQuiet({ utilization, collect }: Quiet): () => void {
	let wasBusy = false;
	let rest = 0;
	return () => {
		const share = utilization();
		rest--;
		if (share >= BUSY) wasBusy = true;
		if (!wasBusy || share > QUIET || rest > 0) return;
		collect();
		// What collecting itself took is no work of the service.
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
