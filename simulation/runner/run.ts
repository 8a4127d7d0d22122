/** Worlds on all cores, one in a process at a time, until enough hours have passed or a promise is broken. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Nodes } from "../plans/shapes.ts";
import type { StorageKind } from "../storage/database.ts";
import type { Fault } from "./fault.ts";
import type { Result, Task } from "./task.ts";

const WORKER = fileURLToPath(new URL("worker.ts", import.meta.url));
/** Where Node keeps what it compiled: a process starts in a third of the time. */
const COMPILE_CACHE = join(tmpdir(), "node-compile-cache");
export const HOUR_MS = 3_600_000;

export interface RunOptions {
	/** Simulated hours at least. */
	readonly hours: number;
	/** Worlds at least. */
	readonly worlds?: number;
	readonly storage: StorageKind;
	/** A running server, for worlds on PostgreSQL. */
	readonly postgresUrl?: string | undefined;
	readonly firstSeed: number;
	/** Worlds at a time. */
	readonly workers: number;
	readonly style?: string | undefined;
	readonly nodes?: Nodes | undefined;
	/** Runs no world but that of the first seed. */
	readonly single?: boolean;
	readonly onResult?: (result: Result, totals: Totals) => void;
}

/** What all worlds came to together. */
export interface Totals {
	hours: number;
	worlds: number;
	events: number;
	requests: number;
	attempts: number;
	longestWaitMs: number;
	longestDrainMs: number;
	failures: number;
}

export interface Run {
	readonly totals: Totals;
	/** The lowest seed of those that failed, or null. */
	readonly failed: Result | null;
}

export async function run(options: RunOptions): Promise<Run> {
	const { hours, worlds = 1, storage, postgresUrl, firstSeed, style, nodes, single = false, workers } = options;
	const totals: Totals = {
		...{ hours: 0, worlds: 0, events: 0, requests: 0, attempts: 0 },
		...{ longestWaitMs: 0, longestDrainMs: 0, failures: 0 },
	};
	let seed = firstSeed;
	let failed: Result | null = null;
	const next = (): Task | null => {
		const isEnough = totals.hours >= hours && seed >= firstSeed + worlds;
		if (failed !== null || isEnough || (single && seed > firstSeed)) return null;
		return { seed: seed++, storage, postgresUrl, style, nodes };
	};
	const note = (result: Result): void => {
		add(totals, result);
		if (isFailure(result) && (failed === null || result.seed < failed.seed)) failed = result;
		options.onResult?.(result, totals);
	};
	await Promise.all(
		Array.from({ length: workers }, async () => {
			using worker = new Worker();
			for (let task = next(); task !== null; task = next()) note(await worker.run(task));
		}),
	);
	return { totals, failed };
}

/** How long a process may take to end when it is told to, milliseconds. */
const END_MS = 5_000;

/** Runs worlds in a process of its own, and in a new one if that dies. */
export class Worker implements Disposable {
	static readonly #live = new Set<ChildProcess>();
	static #ending = false;
	#child: ChildProcess | null = null;

	/** Ends every worker, even within a world, which then has no result. Resolves when none is left. */
	static async endAll(): Promise<void> {
		Worker.#ending = true;
		await Promise.all(
			[...Worker.#live].map(async (child) => {
				const gone = once(child, "exit");
				if (child.connected) child.disconnect();
				const late = setTimeout(() => child.kill("SIGKILL"), END_MS);
				await gone;
				clearTimeout(late);
			}),
		);
	}

	/** @param fault what is wrong with the product, on purpose */
	run(task: Task, fault: Fault | null = null): Promise<Result> {
		this.#child ??= this.#start();
		const child = this.#child;
		return new Promise((resolve) => {
			const died = (code: number | null): void => {
				if (!Worker.#ending)
					resolve({ seed: task.seed, style: "", ending: null, error: `The world's process ended with code ${code}.` });
			};
			child.once("exit", died);
			child.once("message", (result: Result) => {
				child.off("exit", died);
				resolve(result);
			});
			child.send([task, fault]);
		});
	}

	#start(): ChildProcess {
		// Removed here, too: a process that had to be killed couldn't do it.
		const folder = mkdtempSync(join(tmpdir(), "posthorn-worlds-"));
		const child = fork(WORKER, [folder], {
			env: { NODE_COMPILE_CACHE: COMPILE_CACHE, ...process.env, TMPDIR: folder },
		});
		Worker.#live.add(child);
		child.once("exit", () => {
			Worker.#live.delete(child);
			if (this.#child === child) this.#child = null;
			rmSync(folder, { recursive: true, force: true });
		});
		return child;
	}

	[Symbol.dispose](): void {
		if (this.#child?.connected) this.#child.disconnect();
	}
}

export function isFailure({ error, ending }: Result): boolean {
	return error !== null || ending?.breach != null;
}

function add(totals: Totals, result: Result): void {
	totals.worlds += 1;
	if (isFailure(result)) totals.failures += 1;
	const { ending } = result;
	if (!ending) return;
	totals.hours += ending.virtualMs / HOUR_MS;
	totals.events += ending.events;
	totals.requests += ending.requests;
	totals.attempts += ending.attempts;
	totals.longestWaitMs = Math.max(totals.longestWaitMs, ending.longestWaitMs);
	totals.longestDrainMs = Math.max(totals.longestDrainMs, ending.drainedMs);
}
