import type { NameServers } from "../../packages/server/src/net/resolver.ts";
import type { NodeClock, Process, Time } from "./types.ts";

/** What the servers of a name say: its addresses of both families, or why there are none. `silence`: nothing. */
export type NameAnswer = readonly string[] | "nxdomain" | "servfail" | "silence";

interface Name {
	readonly answer: NameAnswer;
	readonly delayMs: number;
}

const UNKNOWN: Name = { answer: "nxdomain", delayMs: 0 };

/** The domain name system: one for all nodes. */
export class Names {
	readonly #names = new Map<string, Name>();

	/** Changes a name's answer. @param delayMs how long the name's own servers take */
	set(hostname: string, answer: NameAnswer, delayMs = 0): void {
		this.#names.set(hostname, { answer, delayMs });
	}

	find(hostname: string): Name {
		return this.#names.get(hostname) ?? UNKNOWN;
	}
}

/** How long c-ares waits for an answer: it asks twice, and waits twice as long the second time. */
const TIMEOUT_MS = 2_000;
const LOOKUP_TIMEOUT_MS = 3 * TIMEOUT_MS;

const CODES = { nxdomain: "ENOTFOUND", servfail: "ESERVFAIL" } as const;

/** The name servers that a node asks. */
export class NodeNameServers implements NameServers {
	/** `silent`: they don't answer; `refusing`: nothing listens at their address. */
	state: "answering" | "silent" | "refusing" = "answering";
	readonly #time: Time;
	readonly #process: Process;
	readonly #clock: NodeClock;
	readonly #names: Names;
	readonly #latencyMs: number;

	constructor(time: Time, process: Process, clock: NodeClock, names: Names, latencyMs: number) {
		this.#time = time;
		this.#process = process;
		this.#clock = clock;
		this.#names = names;
		this.#latencyMs = latencyMs;
	}

	resolve4(hostname: string): Promise<string[]> {
		return this.#resolve(hostname, (address) => !address.includes(":"));
	}

	resolve6(hostname: string): Promise<string[]> {
		return this.#resolve(hostname, (address) => address.includes(":"));
	}

	getServers(): readonly string[] {
		return ["192.0.2.53"];
	}

	resolveRoot(_server: string): Promise<string[]> {
		return this.#ask(TIMEOUT_MS, 0, () => ["a.root-servers.net"]);
	}

	#resolve(hostname: string, isOfFamily: (address: string) => boolean): Promise<string[]> {
		return this.#ask(LOOKUP_TIMEOUT_MS, this.#names.find(hostname).delayMs, () => {
			const { answer } = this.#names.find(hostname);
			if (answer === "silence") return null;
			if (typeof answer === "string") throw failed(CODES[answer], hostname);
			const addresses = answer.filter(isOfFamily);
			if (addresses.length === 0) throw failed("ENODATA", hostname);
			return addresses;
		});
	}

	/** @param answer as the servers find it when they are asked; null: none comes */
	#ask(timeoutMs: number, delayMs: number, answer: () => string[] | null): Promise<string[]> {
		return new Promise((resolve, reject) => {
			const timer = this.#clock.setTimeout(() => reject(failed("ETIMEOUT")), timeoutMs);
			const settle = (end: () => void): void =>
				this.#process.run(() => {
					timer.cancel();
					end();
				});
			this.#time.at(this.#time.now() + this.#latencyMs + delayMs, () => {
				if (this.state === "silent") return;
				try {
					if (this.state === "refusing") throw failed("ECONNREFUSED");
					const found = answer();
					if (found !== null) settle(() => resolve(found));
				} catch (error) {
					settle(() => reject(error));
				}
			});
		});
	}
}

const failed = (code: string, hostname = "") => Object.assign(new Error(`${code} ${hostname}`), { code });
