/** One failure of the primary, and how long each step of the recovery takes. */
import type { SiteNode } from "../database/node.ts";
import type { Site } from "../database/site.ts";
import type { Acknowledged } from "../database/traffic.ts";
import type { Cluster } from "./cluster.ts";
import { FAULTS, type FaultName } from "./faults.ts";
import { TooLate, until } from "./wait.ts";

/** How long to wait for each step before giving up, milliseconds. */
const PATIENCE_MS = 120_000;

/** Times since the failure, milliseconds; null if it didn't happen. */
export interface Round {
	readonly fault: FaultName;
	readonly before: string;
	readonly after: string | null;
	/** Another server became the primary. */
	readonly promotedMs: number | null;
	/** Every node acknowledged a call made after the failure. */
	readonly publishingMs: number | null;
	/** Every webhook received an event published after the failure. */
	readonly deliveringMs: number | null;
	/** All three servers are healthy again. */
	readonly rejoinedMs: number | null;
}

/** Tracks which nodes acknowledged what since the last failure. */
export class Watch {
	#since = Number.POSITIVE_INFINITY;
	#nodes = new Set<SiteNode>();
	#ids = new Set<string>();

	/** Starts over. */
	begin(): void {
		this.#nodes = new Set();
		this.#ids = new Set();
		this.#since = performance.now();
	}

	note({ node, calledAt, offeredAt, ids }: Acknowledged): void {
		if (calledAt >= this.#since) this.#nodes.add(node);
		if (offeredAt >= this.#since) for (const id of ids) this.#ids.add(id);
	}

	isPublishing(site: Site): boolean {
		return site.nodes.every((node) => this.#nodes.has(node));
	}

	/** @param from how many requests each webhook had received at the failure */
	isDelivering(site: Site, from: readonly number[]): boolean {
		return site.webhooks.every(({ arrivals }, i) =>
			arrivals.slice(from[i]).some(({ eventId }) => this.#ids.has(eventId)),
		);
	}
}

export interface RoundOptions {
	readonly cluster: Cluster;
	readonly site: Site;
	readonly watch: Watch;
	readonly fault: FaultName;
	readonly signal: AbortSignal;
	/** Called after each step. */
	readonly progress: (round: Partial<Round>) => void;
}

/** Makes the primary fail and waits for the recovery. */
export async function runRound({ cluster, site, watch, fault, signal, progress }: RoundOptions): Promise<Round> {
	const before = await until("There is a primary", PATIENCE_MS, signal, () => cluster.primary());
	let round: Round = {
		fault,
		before,
		after: null,
		promotedMs: null,
		publishingMs: null,
		deliveringMs: null,
		rejoinedMs: null,
	};
	const tell = (more: Partial<Round>): void => {
		round = { ...round, ...more };
		progress(round);
	};
	tell({});
	await FAULTS[fault].strike(cluster, before);
	const failedAt = performance.now();
	watch.begin();
	const from = site.webhooks.map(({ arrivals }) => arrivals.length);
	const sinceFailure = (): number => performance.now() - failedAt;
	const within = (what: string, isSo: () => Promise<boolean> | boolean): Promise<boolean> =>
		until(what, PATIENCE_MS, signal, isSo).catch((error: unknown) => {
			if (error instanceof TooLate) return false;
			throw error;
		});

	const publishing = within("publishing", () => watch.isPublishing(site)).then(
		(came) => came && tell({ publishingMs: sinceFailure() }),
	);
	const delivering = within("delivering", () => watch.isDelivering(site, from)).then(
		(came) => came && tell({ deliveringMs: sinceFailure() }),
	);
	const rejoining = (async () => {
		const promoted = await within("promoted", async () => {
			const after = await cluster.primary();
			if (after === null || after === before) return false;
			tell({ after, promotedMs: sinceFailure() });
			return true;
		});
		if (!promoted) return;
		await FAULTS[fault].bringBack(cluster, before, signal);
		if (await within("whole", () => cluster.isWhole())) tell({ rejoinedMs: sinceFailure() });
	})();
	await Promise.all([publishing, delivering, rejoining]);
	return round;
}
