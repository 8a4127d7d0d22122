import { API_KEYS } from "../base/budgets.ts";
import type { Clock, Timer } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { KeyStorage } from "../storage/port.ts";

export interface LastUsesOptions {
	readonly storage: Pick<KeyStorage, "touchApiKeys">;
	readonly clock: Clock;
	readonly logger: Logger;
}

/** Records when keys were last used, and writes that occasionally: requests never wait for it. */
export class LastUses {
	readonly #options: LastUsesOptions;
	#waiting = new Map<string, number>();
	#timer: Timer | null = null;
	#writing: Promise<void> = Promise.resolve();
	#closed = false;

	constructor(options: LastUsesOptions) {
		this.#options = options;
	}

	note(keyId: string): void {
		const { clock } = this.#options;
		this.#waiting.set(keyId, clock.now());
		if (this.#waiting.size >= API_KEYS.lastUsesWaiting) this.#write();
		else if (!this.#closed) this.#timer ??= clock.setTimeout(() => this.#write(), API_KEYS.lastUseMs);
	}

	/** A recorded use that isn't written yet. */
	of(keyId: string): number | undefined {
		return this.#waiting.get(keyId);
	}

	/** Writes the pending uses. */
	async close(): Promise<void> {
		this.#closed = true;
		this.#write();
		await this.#writing;
	}

	#write(): void {
		this.#timer?.cancel();
		this.#timer = null;
		if (this.#waiting.size === 0) return;
		const uses = this.#waiting;
		this.#waiting = new Map();
		const { storage, logger } = this.#options;
		this.#writing = this.#writing.then(async () => {
			try {
				await storage.touchApiKeys({ uses });
			} catch (error) {
				logger.warn({ err: error, keys: uses.size }, "failed to store when API keys were last used");
			}
		});
	}
}
