/** What goes wrong in a world apart from its machines: storage, locked rows, names, the network, and local shortages. */
import type { News } from "./happenings.ts";
import type { Network } from "./network/index.ts";
import type { Machines } from "./nodes/machines.ts";

import type { Step } from "./plan.ts";
import { addressOf, hostOf } from "./receivers.ts";
import type { Database } from "./storage/database.ts";
import type { Timeline } from "./time.ts";

/** What a name may resolve to, and nothing may be sent to. */
const PRIVATE = ["10.0.0.7", "127.0.0.1", "169.254.169.254", "::1", "fd00::7"];

/** Faults that last, each with how it ends. */
export class Lasting {
	readonly #timeline: Timeline;
	readonly #tell: (news: News) => void;
	readonly #ends = new Set<() => void>();

	constructor(timeline: Timeline, tell: (news: News) => void) {
		this.#timeline = timeline;
		this.#tell = tell;
	}

	/** A fault begins; `heal` ends it after `ms`. */
	begin(text: string, ms: number, heal: () => void): void {
		this.#tell({ kind: "fault", phase: "begins", text });
		this.add(ms, () => {
			heal();
			this.#tell({ kind: "fault", phase: "ends", text });
		});
	}

	/** Calls `end` after `ms`, or sooner when all faults end. */
	add(ms: number, end: () => void): void {
		const once = (): void => {
			if (this.#ends.delete(once)) end();
		};
		this.#ends.add(once);
		this.#timeline.after(ms, once);
	}

	endAll(): void {
		for (const end of [...this.#ends]) end();
	}
}

export interface FaultsOptions {
	readonly lasting: Lasting;
	readonly machines: Machines;
	readonly network: Network;
	readonly database: Database;
	/** The id of a project of the plan; null until it exists. */
	readonly projectId: (index: number) => string | null;
	/** Runs work that nothing waits for. If it fails, so does the world. */
	readonly run: (work: Promise<unknown>) => void;
}

type FaultStep = Extract<Step, { do: "set clock" | "storage" | "lock" | "name" | "cut" | "name servers" | "shortage" }>;

export class Faults {
	readonly #options: FaultsOptions;

	constructor(options: FaultsOptions) {
		this.#options = options;
	}

	perform(step: FaultStep): void {
		const { lasting, machines, network } = this.#options;
		switch (step.do) {
			case "set clock":
				machines.perform(step);
				lasting.begin(`the clock of n${step.node} is set by ${step.ms} ms`, 0, () => {});
				break;
			case "storage":
				this.#storage(step);
				break;
			case "lock":
				this.#lock(step);
				break;
			case "name":
				this.#name(step);
				break;
			case "cut": {
				const heal = network.cut(machines.at(step.node)?.name ?? "", null, step.how);
				lasting.begin(`the network of n${step.node} is cut, ${step.how}`, step.ms, heal);
				break;
			}
			case "name servers": {
				const nameServers = machines.at(step.node)?.network.nameServers;
				if (!nameServers) break;
				nameServers.state = step.state;
				lasting.begin(`the name servers of n${step.node} are ${step.state}`, step.ms, () => {
					nameServers.state = "answering";
				});
				break;
			}
			case "shortage": {
				const of = machines.at(step.node)?.network;
				if (!of) break;
				of.shortage = { code: step.code };
				lasting.begin(`n${step.node} is short: ${step.code}`, step.ms, () => {
					of.shortage = null;
				});
			}
		}
	}

	#storage({ node, fault, ms, probability, method }: Extract<Step, { do: "storage" }>): void {
		const { lasting, machines } = this.#options;
		const hit = node === null ? machines.nodes : [machines.at(node) ?? []].flat();
		const ends = hit.map(({ storage }) => storage.begin(fault, ms, probability, method));
		const where = node === null ? "of all nodes" : `of n${node}`;
		lasting.begin(`${method ?? "every call"} ${where} ${fault}, ${probability * 100} %`, ms, () => {
			for (const end of ends) end();
		});
	}

	#lock({ project, ms }: Extract<Step, { do: "lock" }>): void {
		const { lasting, database, projectId, run } = this.#options;
		const id = projectId(project);
		if (id === null) return;
		const lock = async (): Promise<void> => {
			const unlock = await database.lock(id);
			if (unlock) lasting.begin(`another session holds the rows of ${id}`, ms, () => run(unlock()));
		};
		run(lock());
	}

	#name({ project, webhook, answer, ms }: Extract<Step, { do: "name" }>): void {
		const { lasting, network } = this.#options;
		const host = hostOf(project, webhook);
		const right = [addressOf(project, webhook)];
		const wrong = answer === "private" ? PRIVATE : answer === "mixed" ? [...PRIVATE, ...right] : answer;
		network.names.set(host, wrong);
		lasting.begin(`${host} resolves to ${answer}`, ms, () => network.names.set(host, right));
	}
}
