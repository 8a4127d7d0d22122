import type { Receiver } from "./load/receiver.ts";
import { WorkerProcess } from "./load/worker-process.ts";
import type { Progress } from "./progress.ts";
import { median } from "./side-by-side.ts";
import type { Workspace } from "./workspace.ts";

/** How many connections to try; the fastest number counts. */
const CONNECTIONS = [64, 100];
/** How much of a slice passes before requests count, and more of it the first time, up to a second. */
const WARM_UP = 0.3;
const COLD_WARM_UP = 2;
const COLD_WARM_UP_MOST_MS = 1_000;

export interface LimitTask {
	readonly origin: string;
	readonly caFile: string;
	/** The first connection posts to `/w` and this number, the next one to the number after it. */
	readonly firstPath: number;
	readonly connections: number;
	readonly warmUpMs: number;
	readonly measureMs: number;
}

/** Requests per second. */
export type LimitReading = number;

/**
 * The highest rate at which a sender without storage gets signed 1 KB requests to the receiver, both on this machine:
 * undici's `dispatch` over persistent TLS connections. The machine's speed varies, so the sender stays warm and is
 * measured again with each measurement that it is compared with.
 */
export class Limit {
	readonly #process: WorkerProcess<LimitTask, LimitReading>;
	readonly #readings: number[] = [];
	#task: LimitTask;

	private constructor(process: WorkerProcess<LimitTask, LimitReading>, task: LimitTask) {
		this.#process = process;
		this.#task = task;
	}

	/** @param sliceMs how long each reading takes */
	static async start(workspace: Workspace, receiver: Receiver, sliceMs: number, progress: Progress): Promise<Limit> {
		const sender = new WorkerProcess<LimitTask, LimitReading>(
			workspace,
			new URL("./limit-process.ts", import.meta.url),
		);
		const tried: { task: LimitTask; perSecond: number }[] = [];
		for (const connections of CONNECTIONS) {
			progress.start(`limit: signed requests without storage, ${connections} connections`);
			const task = {
				origin: receiver.origin,
				caFile: receiver.caFile,
				firstPath: receiver.takePaths(connections),
				connections,
				warmUpMs: sliceMs * WARM_UP,
				measureMs: sliceMs,
			};
			const perSecond = await sender.run({ ...task, warmUpMs: Math.min(COLD_WARM_UP_MOST_MS, sliceMs * COLD_WARM_UP) });
			progress.finish(`${Math.round(perSecond)}/s`);
			tried.push({ task, perSecond });
		}
		return new Limit(sender, tried.toSorted((a, b) => b.perSecond - a.perSecond)[0]!.task);
	}

	/** Measures the current limit. */
	async read(): Promise<LimitReading> {
		const reading = await this.#process.run(this.#task);
		this.#readings.push(reading);
		return reading;
	}

	/** The median of all readings. */
	get perSecond(): number {
		return median(this.#readings);
	}

	close(): Promise<void> {
		return this.#process.close();
	}
}
