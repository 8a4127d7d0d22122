import type { Happening } from "../../happenings.ts";

/** How long after a fault its effects may last, milliseconds. */
export const RECOVERY_MS = 60_000;

/** Whether anything is wrong in the world: faults that last, suspended nodes, and nodes that leave no other running. */
export class Quiet {
	#faults = 0;
	#since = 0;
	readonly #running = new Set<string>();
	readonly #frozen = new Set<string>();

	/** A node that runs. */
	get node(): string | undefined {
		const [node] = this.#running;
		return node;
	}

	/** True time from which on nothing has been wrong and the last fault has been recovered from; infinity during a fault. */
	get since(): number {
		return this.#faults > 0 || this.#frozen.size > 0 ? Number.POSITIVE_INFINITY : this.#since + RECOVERY_MS;
	}

	on(happening: Happening): void {
		const { at } = happening;
		switch (happening.kind) {
			case "fault":
				this.#faults += happening.phase === "begins" ? 1 : -1;
				this.#since = at;
				break;
			case "restored":
				this.#since = at;
				break;
			case "froze":
				this.#frozen.add(happening.node);
				this.#since = at;
				break;
			case "thawed":
				this.#frozen.delete(happening.node);
				this.#since = at;
				break;
			case "started":
				if (this.#isAlone(happening.node)) this.#since = at;
				this.#running.add(happening.node);
				break;
			case "crashed":
				this.#since = at;
				this.#gone(happening.node);
				break;
			case "stopping":
			case "stopped":
				if (this.#isAlone(happening.node)) this.#since = at;
				this.#gone(happening.node);
				break;
		}
	}

	#isAlone(node: string): boolean {
		return this.#running.size === 0 || (this.#running.size === 1 && this.#running.has(node));
	}

	#gone(node: string): void {
		this.#running.delete(node);
		this.#frozen.delete(node);
	}
}
