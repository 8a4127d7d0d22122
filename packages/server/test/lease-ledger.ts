import { within } from "@posthorn/testkit/until";
import type { Lease } from "../src/storage/port.ts";

interface Holding {
	readonly node: string;
	readonly generation: number;
	/** The time until which the node may hold it, as granted. */
	expiresAt: number;
	released: boolean;
}

/**
 * Which leases nodes were granted, and what they did with them. Nodes in one process share a clock, so the two can be
 * compared.
 */
export class LeaseLedger {
	/** Times when two nodes held a project, or one ran it without holding it. */
	readonly violations: string[] = [];
	readonly #holdings = new Map<string, Holding>();
	#waiting = Promise.withResolvers<void>();

	/**
	 * Resolves at the next grant, renewal or release of a lease: several times per lease duration while any node lives.
	 */
	change(): Promise<void> {
		return within("a lease to change", this.#waiting.promise);
	}

	#changed(): void {
		this.#waiting.resolve();
		this.#waiting = Promise.withResolvers();
	}

	granted(node: string, lease: Lease): void {
		const { projectId, generation, expiresAt } = lease;
		const former = this.#holdings.get(projectId);
		const free = former === undefined || former.released || former.expiresAt <= Date.now();
		if (!free) this.violations.push(`${node} was given ${projectId} while ${former.node} held it`);
		if (generation <= (former?.generation ?? 0)) this.violations.push(`the generation of ${projectId} did not rise`);
		this.#holdings.set(projectId, { node, generation, expiresAt, released: false });
		this.#changed();
	}

	renewed(node: string, lease: Lease): void {
		const holding = this.#holdings.get(lease.projectId);
		if (holding?.node !== node || holding.generation !== lease.generation)
			this.violations.push(`${node} renewed ${lease.projectId}, which passed on`);
		else holding.expiresAt = lease.expiresAt;
		this.#changed();
	}

	/** Call before storage releases the lease. */
	released(node: string, lease: Lease): void {
		const holding = this.#holdings.get(lease.projectId);
		if (holding?.node === node && holding.generation === lease.generation) holding.released = true;
		this.#changed();
	}

	/** Records that the node starts an attempt. */
	started(node: string, projectId: string): void {
		const holding = this.#holdings.get(projectId);
		if (holding?.node !== node || holding.released || holding.expiresAt <= Date.now())
			this.violations.push(`${node} began an attempt of ${projectId} without its lease`);
	}
}
