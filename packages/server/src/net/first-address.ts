import { RECEIVERS } from "../base/budgets.ts";

/**
 * Where connections to hosts with several addresses begin. One attempt tries only some of them, and has only so much time,
 * so the attempt after a failed one begins with the first address that wasn't tried. Otherwise, one that works would never
 * be tried if enough others before it don't. Once an address has accepted, connections begin in the resolver's order again
 * if that leads to this address within one attempt, and with it otherwise.
 */
export class FirstAddress {
	/** By host name, least recently changed first. */
	readonly #firsts = new Map<string, string>();

	/** The addresses to try, in order: at least one, at most {@link RECEIVERS.addresses}. */
	choose(hostname: string, all: readonly string[]): readonly string[] {
		const first = this.#firsts.get(hostname);
		const at = first === undefined ? 0 : Math.max(0, all.indexOf(first));
		return [...all.slice(at), ...all.slice(0, at)].slice(0, RECEIVERS.addresses);
	}

	/** No address has accepted. @param last the last one that was tried */
	failed(hostname: string, all: readonly string[], last: string): void {
		this.#set(hostname, all, (all.indexOf(last) + 1) % all.length);
	}

	accepted(hostname: string, all: readonly string[], address: string): void {
		const at = all.indexOf(address);
		this.#set(hostname, all, at < RECEIVERS.addresses ? 0 : at);
	}

	#set(hostname: string, all: readonly string[], at: number): void {
		this.#firsts.delete(hostname);
		if (at === 0) return;
		this.#firsts.set(hostname, all[at]!);
		const [oldest] = this.#firsts.keys();
		if (this.#firsts.size > RECEIVERS.firstAddresses) this.#firsts.delete(oldest!);
	}
}
