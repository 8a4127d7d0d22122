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

	on({ kind, at, ...about }: Happening): void {
		const node = "node" in about ? about.node : "";
		if (kind === "fault" && "phase" in about) this.#faults += about.phase === "begins" ? 1 : -1;
		const isAlone = [...this.#running].every((other) => other === node);
		if (["fault", "crashed", "froze", "thawed", "restored"].includes(kind)) this.#since = at;
		if (["started", "stopping", "stopped"].includes(kind) && isAlone) this.#since = at;
		if (kind === "started") this.#running.add(node);
		if (kind === "froze") this.#frozen.add(node);
		if (kind === "thawed") this.#frozen.delete(node);
		if (kind !== "crashed" && kind !== "stopping" && kind !== "stopped") return;
		this.#running.delete(node);
		this.#frozen.delete(node);
	}
}
