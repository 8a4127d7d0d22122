import { promises as dns } from "node:dns";

/** The queries that the resolver sends to name servers. Errors have c-ares codes. */
export interface NameServers {
	resolve4(hostname: string): Promise<string[]>;
	resolve6(hostname: string): Promise<string[]>;
	/** Each as `address` or `address:port`. */
	getServers(): readonly string[];
	/** Asks one server for the root's servers. */
	resolveRoot(server: string): Promise<unknown>;
}

/** c-ares codes which mean that no server answered; every other code is an answer. */
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

/** Queries name servers over the network (c-ares). */
export class MachineNameServers implements NameServers {
	readonly #resolver: dns.Resolver;
	readonly #timeoutMs: number;

	/**
	 * @param timeoutMs how long a server has to answer the first of `tries`
	 * @param servers as `address` or `address:port`; defaults to the machine's (resolv.conf)
	 */
	constructor(timeoutMs: number, tries: number, servers?: readonly string[]) {
		this.#timeoutMs = timeoutMs;
		this.#resolver = new dns.Resolver({ timeout: timeoutMs, tries });
		if (servers !== undefined) this.#resolver.setServers([...servers]);
	}

	resolve4(hostname: string): Promise<string[]> {
		return this.#resolver.resolve4(hostname);
	}

	resolve6(hostname: string): Promise<string[]> {
		return this.#resolver.resolve6(hostname);
	}

	getServers(): readonly string[] {
		return this.#resolver.getServers();
	}

	resolveRoot(server: string): Promise<string[]> {
		const resolver = new dns.Resolver({ timeout: this.#timeoutMs, tries: 1 });
		resolver.setServers([server]);
		return resolver.resolveNs(".");
	}
}
