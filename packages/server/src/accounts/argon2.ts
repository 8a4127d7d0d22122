import { type Argon2Parameters, argon2Sync } from "node:crypto";
import { constants, setPriority } from "node:os";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { emitWarningOf, sendWarnings, type ThreadWarning } from "../base/logger.ts";

/** Tells the thread's program, this file as well, from other threads that import it. */
const ROLE = "argon2";

/**
 * Computes argon2id on a thread of its own. On Linux it has a lower priority than the rest of the service: on a busy
 * machine sign-ins wait, not deliveries. The thread starts with the first hash and doesn't keep the process running.
 */
export class Argon2 {
	#worker: Worker | null = null;
	/** In the order of the calls, which is also that of the results. */
	readonly #waiting: PromiseWithResolvers<Buffer>[] = [];

	/** @throws if the thread ends; the next call starts another one */
	hash(parameters: Argon2Parameters): Promise<Buffer> {
		this.#worker ??= this.#start();
		const result = Promise.withResolvers<Buffer>();
		this.#waiting.push(result);
		this.#worker.ref();
		this.#worker.postMessage(parameters);
		return result.promise;
	}

	#start(): Worker {
		const worker = new Worker(new URL(import.meta.url), { workerData: ROLE, name: ROLE, execArgv: [] });
		worker.on("message", (hash: Uint8Array | ThreadWarning) => {
			if ("warning" in hash) {
				emitWarningOf(hash);
				return;
			}
			this.#waiting.shift()!.resolve(Buffer.from(hash));
			if (this.#waiting.length === 0) worker.unref();
		});
		let cause: unknown;
		worker.on("error", (error) => {
			cause = error;
		});
		worker.on("exit", () => {
			this.#worker = null;
			const error = new Error("The thread that hashes passwords ended unexpectedly.", { cause });
			for (const { reject } of this.#waiting.splice(0)) reject(error);
		});
		return worker;
	}
}

if (!isMainThread && workerData === ROLE) {
	sendWarnings((warning) => parentPort!.postMessage(warning));
	// Elsewhere this would apply to the whole process.
	if (process.platform === "linux") setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
	parentPort!.on("message", (parameters: Argon2Parameters) => {
		parentPort!.postMessage(argon2Sync("argon2id", parameters));
	});
}
