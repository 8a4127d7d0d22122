import { Worker } from "node:worker_threads";
import type { Bag } from "../../../base/collections.ts";
import { emitWarningOf } from "../../../base/logger.ts";
import { StorageError } from "../../port.ts";
import { fromNote } from "./errors.ts";
import { CLOSE, type FromWorker, type Reply, type Request, transferOf, type WorkerSetup } from "./wire.ts";

/** The thread's program: next to this file, in the same form (source or compiled). */
function programOf(role: WorkerSetup["role"]): URL {
	const name = role === "checkpointer" ? "checkpointer-worker" : "worker";
	return new URL(`./${name}.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`, import.meta.url);
}

/** A worker's young generation, MB. */
const YOUNG_MB = 4;

interface Waiting {
	readonly resolve: (value: unknown) => void;
	readonly reject: (error: Error) => void;
}

/** Our side of the channel to a worker: calls go in, results come back in any order. */
export class Channel {
	readonly #worker: Worker;
	/** By call number. A Map would retain past calls (see {@link Bag}). */
	readonly #waiting: (Waiting | null)[] = [];
	/** Numbers available for reuse. */
	readonly #free: number[] = [];
	readonly #path: string;
	readonly #onDeath: (error: StorageError) => void;
	onFailed: (error: Error) => void = () => undefined;
	/** Why calls are refused. */
	#ended: StorageError | null = null;

	private constructor(worker: Worker, path: string, onDeath: (error: StorageError) => void) {
		this.#worker = worker;
		this.#path = path;
		this.#onDeath = onDeath;
	}

	/**
	 * Resolves when the worker has opened the database; rejects with the reason if it can't.
	 *
	 * @param onDeath called once if an open worker ends without being asked to
	 */
	static open(setup: WorkerSetup, onDeath: (error: StorageError) => void): Promise<Channel> {
		const worker = new Worker(programOf(setup.role), {
			workerData: setup,
			name: `sqlite-${setup.role}`,
			// Flags of the main program (such as `--input-type`) don't suit a separate file.
			execArgv: [],
			// Rows live for one message: a small young generation is collected soon, and its memory stays small.
			resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
		});
		let opened = false;
		const channel = new Channel(worker, setup.path, (error) => opened && onDeath(error));
		return new Promise((resolve, reject) => {
			worker.on("message", (message: FromWorker) => {
				const [kind, content] = message;
				if (kind === "opened") {
					opened = true;
					resolve(channel);
				} else if (kind === "not_opened") reject(fromNote(content));
				else if (kind === "lost") channel.#end(fromNote(content));
				else if (kind === "warning") emitWarningOf(content);
				else channel.#settle(content);
			});
			worker.on("error", (error) => reject(channel.#end(error)));
			worker.on("exit", () => reject(channel.#end()));
		});
	}

	/** @param p a batch hands its memory over, see {@link transferOf} */
	call<T>(operation: string, p: unknown, now: number): Promise<T> {
		if (this.#ended !== null) return Promise.reject(this.#ended);
		const id = this.#free.pop() ?? this.#waiting.length;
		return new Promise((resolve, reject) => {
			this.#waiting[id] = { resolve: resolve as (value: unknown) => void, reject };
			const request: Request = [id, operation, p, now];
			this.#worker.postMessage(request, transferOf([p]));
		});
	}

	/** Waits for earlier calls; later ones are refused as `closed`. Rejects as `lost` if the worker loses its files meanwhile. */
	async close(): Promise<void> {
		if (this.#ended !== null) return;
		const exited = new Promise((resolve) => this.#worker.once("exit", resolve));
		const closed = this.call(CLOSE, null, 0);
		this.#ended = new StorageError("closed", "The storage is closed.");
		await closed.finally(() => exited);
	}

	#settle(replies: readonly Reply[]): void {
		for (const [id, ok, content] of replies) {
			const waiting = this.#waiting[id];
			this.#waiting[id] = null;
			this.#free.push(id);
			if (ok) {
				waiting?.resolve(content);
				continue;
			}
			const error = fromNote(content);
			this.onFailed(error);
			waiting?.reject(error);
		}
	}

	/** The worker is gone, or has lost its files: rejects all pending calls. */
	#end(cause?: unknown): StorageError {
		if (this.#ended === null) {
			const reason = cause instanceof Error ? ` (${cause.message})` : "";
			const message = `The thread that accesses ${this.#path} ended unexpectedly${reason}: restart the service.`;
			this.#ended = cause instanceof StorageError ? cause : new StorageError("lost", message, { cause });
			this.#onDeath(this.#ended);
		} else if (cause instanceof StorageError) this.#ended = cause;
		for (const waiting of this.#waiting.splice(0)) waiting?.reject(this.#ended);
		return this.#ended;
	}
}
