import { networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";
import type { Clock } from "../base/clock.ts";
import type { Interfaces } from "./socket.ts";

/** How long a list of addresses is used, milliseconds. */
const REREAD_AFTER_MS = 1_000;

export interface OwnAddressesOptions {
	/** Without it, they are read each time. */
	readonly clock?: Pick<Clock, "elapsed"> | undefined;
	/** Defaults to the machine's network interfaces. */
	readonly interfaces?: Interfaces | undefined;
}

/**
 * The addresses of this machine's own interfaces, as they are now. A machine with a public address could otherwise be
 * reached on it from the inside, past the firewall that keeps others out.
 */
export class OwnAddresses {
	readonly #clock: Pick<Clock, "elapsed"> | undefined;
	readonly #interfaces: Interfaces;
	#addresses: ReadonlySet<string>;
	#readAt: number;

	/** @throws Error if the interfaces can't be listed */
	constructor({ clock, interfaces = networkInterfaces }: OwnAddressesOptions) {
		this.#clock = clock;
		this.#interfaces = interfaces;
		this.#addresses = this.#read();
		this.#readAt = clock?.elapsed() ?? 0;
	}

	has(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
		this.#refresh();
		return this.#addresses.has(address.toNormalizedString());
	}

	#refresh(): void {
		const now = this.#clock?.elapsed() ?? Number.POSITIVE_INFINITY;
		if (now - this.#readAt < REREAD_AFTER_MS) return;
		this.#readAt = now;
		try {
			this.#addresses = this.#read();
		} catch {
			// Listing them takes a file descriptor. While there is none, the previous list is the best guess.
		}
	}

	#read(): ReadonlySet<string> {
		const all = Object.values(this.#interfaces()).flatMap((addresses) => addresses ?? []);
		return new Set(all.map(({ address }) => ipaddr.parse(address.replace(/%.*/, "")).toNormalizedString()));
	}
}
