import type { FastifyRequest } from "fastify";
import type { Clock, Timer } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import { RepeatedFailure } from "../../base/repeated-failure.ts";
import { StorageError } from "../../storage/port.ts";
import type { StorageCheck } from "../storage-check.ts";

/** How long no request may have failed before the outage is over, if storage works. Milliseconds. */
const QUIET_MS = 5_000;

interface FailureLogOptions {
	readonly logger: Logger;
	readonly clock: Pick<Clock, "elapsed" | "setTimeout">;
	readonly storageCheck: Pick<StorageCheck, "read">;
}

/** Logs requests that failed. While storage fails, a few lines say as much as one for every request. */
export class FailureLog {
	readonly #options: FailureLogOptions;
	readonly #outage: RepeatedFailure;
	/** Runs during an outage. */
	#timer: Timer | null = null;
	#failsStill = false;
	#isClosed = false;

	constructor(options: FailureLogOptions) {
		this.#options = options;
		this.#outage = new RepeatedFailure(options, { failed: "a request failed", over: "requests no longer fail" });
	}

	add(error: unknown, { id: requestId, routeOptions: { url: route }, projectId }: FastifyRequest): void {
		if (!(error instanceof StorageError)) {
			this.#options.logger.error({ err: error, requestId, route }, "a request failed");
			return;
		}
		this.#outage.failed(error, { requestId, route, ...(projectId !== null && { projectId }) });
		this.#failsStill = true;
		this.#timer ??= this.#soon();
	}

	close(): void {
		this.#isClosed = true;
		this.#timer?.cancel();
	}

	#soon(): Timer | null {
		if (this.#isClosed) return null;
		this.#failsStill = false;
		return this.#options.clock.setTimeout(() => void this.#check(), QUIET_MS);
	}

	/** Smaller writes succeed on a full disk, so that one request was served doesn't end the outage. */
	async #check(): Promise<void> {
		const isOver = !this.#failsStill && (await this.#options.storageCheck.read()) === "ok" && !this.#failsStill;
		if (isOver) this.#outage.succeeded();
		this.#timer = isOver ? null : this.#soon();
	}
}
