import type { Clock } from "../../base/clock.ts";
import { isUnanswered, type NameServers } from "./name-servers.ts";

/** How long the result of an unanswered probe is valid, milliseconds. */
const SILENCE_HOLDS_MS = 1_000;

/**
 * Tells apart a name whose own servers are silent and silent name servers of this machine. The former is the receiver's
 * fault, and anyone can cause it with their own domain; the latter is a local shortage.
 *
 * It asks each of the machine's name servers for the root's servers. Every working resolver can answer that on its own,
 * and an error counts as an answer. One probe serves all lookups that fail meanwhile.
 */
export class NameServerProbe {
	readonly #clock: Pick<Clock, "elapsed">;
	readonly #servers: NameServers;
	#answeredAt = Number.NEGATIVE_INFINITY;
	#silentAt = Number.NEGATIVE_INFINITY;
	#probing: Promise<boolean> | null = null;

	constructor(clock: Pick<Clock, "elapsed">, servers: NameServers) {
		this.#clock = clock;
		this.#servers = servers;
	}

	/** A server has answered a query. */
	answered(): void {
		this.#answeredAt = this.#clock.elapsed();
	}

	/** Whether a name server has answered any query since this monotonic time; probes them if none has. */
	async isAnswered(since: number): Promise<boolean> {
		if (this.#answeredAt >= since) return true;
		if (this.#clock.elapsed() - this.#silentAt < SILENCE_HOLDS_MS) return false;
		this.#probing ??= this.#probe().finally(() => {
			this.#probing = null;
		});
		return this.#probing;
	}

	async #probe(): Promise<boolean> {
		try {
			await Promise.any(this.#servers.getServers().map((server) => this.#ask(server)));
			this.answered();
			return true;
		} catch {
			this.#silentAt = this.#clock.elapsed();
			return false;
		}
	}

	/** Rejects if the server doesn't answer. */
	async #ask(server: string): Promise<void> {
		try {
			await this.#servers.resolveRoot(server);
		} catch (error) {
			if (!(error instanceof Error) || isUnanswered(error)) throw error;
		}
	}
}
