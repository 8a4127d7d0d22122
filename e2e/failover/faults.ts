/** How a primary can fail. Afterwards its Patroni runs again and makes it a replica. */
import { setTimeout as delay } from "node:timers/promises";
import type { Cluster } from "./cluster.ts";

export interface Fault {
	/** For the progress line and the summary. */
	readonly text: string;
	/** Resolves once the primary no longer serves. */
	strike(cluster: Cluster, server: string): Promise<void>;
	/** Called once another server is the primary. */
	bringBack(cluster: Cluster, server: string, signal: AbortSignal): Promise<void>;
}

/** A frozen server resumes this long after the promotion, still believing it is the primary. Milliseconds. */
const FROZEN_AFTER_MS = 2_000;

export const FAULTS = {
	crash: {
		text: "PostgreSQL killed",
		async strike(cluster, server) {
			cluster.signal(server, "SIGKILL", false);
		},
		// Its Patroni restarts it as a replica.
		async bringBack() {},
	},
	power: {
		text: "PostgreSQL and Patroni killed",
		async strike(cluster, server) {
			await cluster.killPatroni(server);
			cluster.signal(server, "SIGKILL", false);
		},
		async bringBack(cluster, server) {
			cluster.startPatroni(server);
		},
	},
	freeze: {
		text: "PostgreSQL and Patroni frozen",
		async strike(cluster, server) {
			cluster.signal(server, "SIGSTOP", true);
		},
		async bringBack(cluster, server, signal) {
			await delay(FROZEN_AFTER_MS, undefined, { signal });
			cluster.signal(server, "SIGCONT", true);
		},
	},
} as const satisfies Readonly<Record<string, Fault>>;

export type FaultName = keyof typeof FAULTS;
