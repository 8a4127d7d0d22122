import type { Progress } from "./progress.ts";
import type { Receiver } from "./receiver.ts";
import { runInProcess } from "./worker-process.ts";
import type { Workspace } from "./workspace.ts";

/** How many connections are tried; the fastest counts. */
const CONNECTIONS = [64, 100];
/** Everything is compared with the limit, so that it gets time to settle even in short runs. */
const MIN_SECONDS = 1;
const MIN_WARM_UP_MS = 700;

export interface LimitTask {
	readonly origin: string;
	readonly caFile: string;
	/** The first connection posts to `/w` and this number, the next to the one after it. */
	readonly firstPath: number;
	readonly connections: number;
	readonly warmUpMs: number;
	readonly measureMs: number;
}

export interface LimitReading {
	readonly perSecond: number;
	/** Of the sending process, for each request. */
	readonly cpuMicros: number;
}

/**
 * The most signed 1 KB requests per second that a sender without storage gets to this receiver, both on this machine:
 * undici's `dispatch` over TLS connections that are kept alive.
 */
export async function measureLimit(
	workspace: Workspace,
	receiver: Receiver,
	seconds: number,
	progress: Progress,
): Promise<LimitReading> {
	let best: LimitReading = { perSecond: 0, cpuMicros: 0 };
	for (const connections of CONNECTIONS) {
		progress.start(`limit: signed requests without storage, ${connections} connections`);
		const firstPath = receiver.takePaths(connections);
		const reading = await runInProcess<LimitTask, LimitReading>(workspace, "./limit-process.ts", {
			origin: receiver.origin,
			caFile: receiver.caFile,
			firstPath,
			connections,
			warmUpMs: Math.max(MIN_WARM_UP_MS, seconds * 300),
			measureMs: Math.max(MIN_SECONDS, seconds) * 1_000,
		});
		progress.finish(`${Math.round(reading.perSecond)}/s, ${reading.cpuMicros.toFixed(1)} µs of CPU each`);
		if (reading.perSecond > best.perSecond) best = reading;
	}
	return best;
}
