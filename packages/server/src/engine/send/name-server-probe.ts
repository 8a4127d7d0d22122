import { promises as dns } from "node:dns";
import type { Clock } from "../../base/clock.ts";

/** How long the result of an unanswered probe is valid, milliseconds. */
const SILENCE_HOLDS_MS = 1_000;

/** Codes of c-ares that say that no server answered; every other code is an answer. */
const UNANSWERED = new Set([
	"ETIMEOUT",
	"ECONNREFUSED",
	"EOF",
	"EFILE",
	"ENOMEM",
	"ECANCELLED",
	"EDESTRUCTION",
	"ENOTINITIALIZED",
]);

export function isUnanswered(error: Error): boolean {
	return "code" in error && typeof error.code === "string" && UNANSWERED.has(error.code);
}

/**
 * Tells a name whose own servers are silent from name servers of this machine that are. The former is the receiver's
 * fault, and anyone can cause it with a domain of their own; the latter is a shortage of ours.
 *
 * It asks each of the machine's name servers for the root's servers: any that resolves at all can answer that on its own, and
 * an error is an answer too. One probe serves all lookups that fail meanwhile.
 */
export class NameServerProbe {
	readonly #clock: Pick<Clock, "elapsed">;
	readonly #timeoutMs: number;
	readonly #servers: () => readonly string[];
	#answeredAt = Number.NEGATIVE_INFINITY;
	#silentAt = Number.NEGATIVE_INFINITY;
	#probing: Promise<boolean> | null = null;

	constructor(clock: Pick<Clock, "elapsed">, timeoutMs: number, servers: () => readonly string[]) {
		this.#clock = clock;
		this.#timeoutMs = timeoutMs;
		this.#servers = servers;
	}

	/** A server answered something. */
	answered(): void {
		this.#answeredAt = this.#clock.elapsed();
	}

	/** Whether a name server has answered anything since then (by the monotonic clock); asks them if none has. */
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
			await Promise.any(this.#servers().map((server) => this.#ask(server)));
			this.answered();
			return true;
		} catch {
			this.#silentAt = this.#clock.elapsed();
			return false;
		}
	}

	/** Rejects if it does not answer. */
	async #ask(server: string): Promise<void> {
		const resolver = new dns.Resolver({ timeout: this.#timeoutMs, tries: 1 });
		resolver.setServers([server]);
		try {
			await resolver.resolveNs(".");
		} catch (error) {
			if (!(error instanceof Error) || isUnanswered(error)) throw error;
		}
	}
}
