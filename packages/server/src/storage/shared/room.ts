import { ROOM } from "../../base/budgets.ts";
import { StorageError } from "../port.ts";

/**
 * Whether the database has disk space, judged by its last writes. After a write that failed for lack of space, smaller
 * ones may still succeed, or the same one a moment later. So the database counts as full until a probe has succeeded: a
 * write as large as a request to publish. Each check of readiness may start one, because a node that isn't ready gets no
 * requests that would find out.
 */
export class Room {
	readonly #probe: () => Promise<unknown>;
	readonly #elapsed: () => number;
	#refusal: StorageError | null = null;
	#probeAt = 0;

	/**
	 * @param probe writes {@link ROOM.probeBytes} and removes them
	 * @param elapsed monotonic time, milliseconds
	 */
	constructor(probe: () => Promise<unknown>, elapsed: () => number = () => performance.now()) {
		this.#probe = probe;
		this.#elapsed = elapsed;
	}

	/** Takes note of a failure of the storage. */
	failed(error: unknown): void {
		if (!(error instanceof StorageError) || error.code !== "full") return;
		this.#refusal = error;
		this.#probeAt = this.#elapsed() + ROOM.probeEveryMs;
	}

	/** Rejects with the last write's error while there is no room. */
	async check(): Promise<void> {
		const refusal = this.#refusal;
		if (refusal === null) return;
		if (this.#elapsed() < this.#probeAt) throw refusal;
		this.#probeAt = this.#elapsed() + ROOM.probeEveryMs;
		await this.#probe();
		// Another write may have failed meanwhile.
		if (this.#refusal === refusal) this.#refusal = null;
		if (this.#refusal !== null) throw this.#refusal;
	}
}
