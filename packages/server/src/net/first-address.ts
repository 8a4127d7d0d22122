import { RECEIVERS } from "../base/budgets.ts";

/**
 * Where connections to hosts with several addresses begin. One attempt tries only some of them, and has only so much time,
 * so the attempt after a failed one begins with the first address that wasn't tried. Otherwise, one that works would never
 * be tried if enough others before it don't. Once an address has accepted, connections begin in the resolver's order again
 * if that leads to this address within one attempt, and with it otherwise.
 */
export class FirstAddress {
	/** By `name:port`, least recently changed first: an address that refuses one port may accept another. */
	readonly #firsts = new Map<string, string>();

	/** The addresses to try, in order: at least one, at most {@link RECEIVERS.addresses}. */
	choose(host: string, all: readonly string[]): readonly string[] {
		const first = this.#firsts.get(host);
		const at = first === undefined ? 0 : Math.max(0, all.indexOf(first));
		return [...all.slice(at), ...all.slice(0, at)].slice(0, RECEIVERS.addresses);
	}

	/** No address has accepted. @param last the last one that was tried */
	failed(host: string, all: readonly string[], last: string): void {
		this.#set(host, all, (all.indexOf(last) + 1) % all.length);
	}

	accepted(host: string, all: readonly string[], address: string): void {
		const at = all.indexOf(address);
		this.#set(host, all, at < RECEIVERS.addresses ? 0 : at);
	}

	#set(host: string, all: readonly string[], at: number): void {
		this.#firsts.delete(host);
		if (at === 0) return;
		this.#firsts.set(host, all[at]!);
		const [oldest] = this.#firsts.keys();
		if (this.#firsts.size > RECEIVERS.firstAddresses) this.#firsts.delete(oldest!);
	}
}
