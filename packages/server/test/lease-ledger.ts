import { within } from "@posthorn/testkit/until";
import type { Lease } from "../src/storage/port.ts";

interface Holding {
	readonly node: string;
	readonly generation: number;
	/** Until when the node may hold it, by what it was told. */
	expiresAt: number;
	released: boolean;
}

/** What nodes were told of leases, and what they did by that. Nodes of one process have one clock, so it can be compared. */
export class LeaseLedger {
	/** Where two nodes held a project at once, or one worked it that did not hold it. */
	readonly violations: string[] = [];
	readonly #holdings = new Map<string, Holding>();
	#waiting = Promise.withResolvers<void>();

	/** Resolves when a lease is given, renewed or given back next: several times a term, as long as a node lives. */
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

	/** To be told before storage is. */
	released(node: string, lease: Lease): void {
		const holding = this.#holdings.get(lease.projectId);
		if (holding?.node === node && holding.generation === lease.generation) holding.released = true;
		this.#changed();
	}

	/** The node begins an attempt. */
	started(node: string, projectId: string): void {
		const holding = this.#holdings.get(projectId);
		if (holding?.node !== node || holding.released || holding.expiresAt <= Date.now())
			this.violations.push(`${node} began an attempt of ${projectId} without its lease`);
	}
}
