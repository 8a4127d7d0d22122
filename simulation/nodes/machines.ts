/** The machines of a world. Nodes run on them one life after another, by the machine's clock. */
import type { News } from "../happenings.ts";
import type { Network } from "../network/index.ts";
import type { Shape, Step } from "../plan.ts";
import type { Random } from "../random.ts";
import type { Database } from "../storage/database.ts";
import type { Timeline } from "../time.ts";
import { SimNode } from "./node.ts";

/** Clocks that differ by less count as equal (storage/shared/leases.ts), milliseconds. */
const AGREE_MS = 450;
/** How long a process has to stop after SIGTERM, in addition to an attempt's timeout, milliseconds. */
const STOP_MS = 10_000;

interface Machine {
	readonly index: number;
	node: SimNode | null;
	/** Names the next life. */
	lives: number;
	aheadMs: number;
	rate: number;
	/** A node is starting or stopping. */
	isMoving: boolean;
}

export interface MachinesOptions {
	readonly timeline: Timeline;
	/** The time of day when the world began. */
	readonly startMs: number;
	readonly shape: Shape;
	readonly sealKey: Uint8Array;
	readonly database: Database;
	readonly network: Network;
	readonly random: (...names: readonly (string | number)[]) => Random;
	/** How often the database continued from an earlier state. */
	readonly restores: () => number;
	readonly tell: (news: News) => void;
	/** Runs work that nothing waits for. If it fails, so does the world. */
	readonly run: (work: Promise<unknown>) => void;
	/** Calls `end` after `ms`, or sooner when all faults end. */
	readonly lasting: (ms: number, end: () => void) => void;
}

export class Machines {
	readonly #options: MachinesOptions;
	readonly #machines: Machine[] = [];
	/** Every life so far, by name. */
	readonly #lives = new Map<string, SimNode>();
	#mostOffMs = 0;

	/** Starts a node on each machine, one after another. */
	constructor(options: MachinesOptions) {
		this.#options = options;
		const { timeline, shape, random } = options;
		for (let index = 0; index < shape.nodes; index++) {
			const aheadMs = random("clock", index).between(-400, 400);
			const machine = { index, node: null, lives: 0, aheadMs, rate: 1, isMoving: false };
			this.#machines.push(machine);
			timeline.after(index * 100, () => this.#up(machine));
		}
	}

	/** The nodes that are up. */
	get nodes(): SimNode[] {
		return this.#machines.flatMap(({ node }) => node ?? []);
	}

	/** The node that runs on this machine now. */
	at(index: number): SimNode | null {
		return this.#machines[index]!.node;
	}

	/** The node with this name, even if it is gone. */
	named(name: string): SimNode {
		return this.#lives.get(name)!;
	}

	/** Starts a node on each machine that has none. */
	upAll(): void {
		for (const machine of this.#machines) this.#up(machine);
	}

	perform(step: Extract<Step, { do: "crash" | "restart" | "freeze" | "sleep" | "drift" | "set clock" }>): void {
		const machine = this.#machines[step.node]!;
		const { timeline, run } = this.#options;
		switch (step.do) {
			case "crash":
			case "restart":
				run(this.#down(machine, step.do).then(() => void timeline.after(step.ms, () => this.#up(machine))));
				break;
			case "freeze":
			case "sleep":
				this.#freeze(machine, step.ms, step.do);
				break;
			case "drift":
				this.#drift(machine, step.rate, step.ms);
				break;
			case "set clock":
				machine.aheadMs += step.ms;
				machine.node?.clock.set(step.ms);
		}
	}

	/** How far two clocks may have been apart, milliseconds: 0 where a database for many nodes would take no notice. */
	disagreementMs(): number {
		const { timeline, startMs } = this.#options;
		const now = startMs + timeline.now();
		for (const { node } of this.#machines)
			if (node !== null) this.#mostOffMs = Math.max(this.#mostOffMs, Math.abs(node.clock.now() - now));
		return this.#mostOffMs <= AGREE_MS ? 0 : 2 * (this.#mostOffMs + AGREE_MS);
	}

	/** The end of the world. */
	async end(): Promise<void> {
		const { nodes } = this;
		for (const { host } of nodes) host.kill();
		for (const { real } of nodes) await this.#options.database.close(real).catch(() => undefined);
	}

	#up(machine: Machine): void {
		if (machine.node !== null || machine.isMoving) return;
		machine.isMoving = true;
		const name = `n${machine.index}.${++machine.lives}`;
		const { shape, run, ...parts } = this.#options;
		const start = async (): Promise<void> => {
			machine.node = await SimNode.start(name, machine, {
				...{ ...parts, settings: shape },
				register: (node) => this.#lives.set(node.name, node),
			});
			machine.isMoving = false;
		};
		run(start());
	}

	async #down(machine: Machine, how: "crash" | "restart"): Promise<void> {
		const { node } = machine;
		if (!node || machine.isMoving) return;
		machine.isMoving = true;
		if (how === "restart") await this.#stop(node);
		else await node.crash();
		machine.node = null;
		machine.isMoving = false;
	}

	/** As on SIGTERM. */
	async #stop(node: SimNode): Promise<void> {
		const { timeline, shape, tell } = this.#options;
		tell({ kind: "stopping", node: node.name });
		await new Promise<void>((resolve) => {
			timeline.after(shape.attemptTimeoutMs + STOP_MS, resolve);
			node.host.run(() => node.stop().then(resolve, resolve));
		});
		await node.end();
	}

	/** Suspends the process, or puts the whole machine to sleep. */
	#freeze({ node }: Machine, ms: number, how: "freeze" | "sleep"): void {
		if (!node?.host.isRunning) return;
		const { tell, lasting } = this.#options;
		tell({ kind: "froze", node: node.name });
		node.host.freeze();
		if (how === "sleep") node.clock.sleep();
		lasting(ms, () => {
			if (how === "sleep") node.clock.wake();
			if (!node.host.isFrozen) return;
			tell({ kind: "thawed", node: node.name });
			node.host.thaw();
		});
	}

	/** The clock runs at this rate for so long, and is then set right. */
	#drift(machine: Machine, rate: number, ms: number): void {
		const { timeline, lasting } = this.#options;
		machine.rate = rate;
		machine.node?.clock.drift(rate);
		const since = timeline.now();
		const drifted = machine.node;
		lasting(ms, () => {
			machine.rate = 1;
			machine.node?.clock.drift(1);
			const ranFor = timeline.now() - since;
			if (drifted === machine.node) drifted?.clock.set(Math.round((1 - rate) * ranFor));
		});
	}
}
