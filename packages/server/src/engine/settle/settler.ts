import { COMMITS } from "../../base/budgets.ts";
import type { Clock } from "../../base/clock.ts";
import { GroupCommit } from "../../base/group-commit.ts";
import type { Logger } from "../../base/logger.ts";
import {
	type DeliveryStorage,
	type LaneProgress,
	type NewAttempt,
	type Retry,
	type Settlement,
	StorageError,
} from "../../storage/port.ts";

/** Outcomes in one commit at most: keeps a commit, and so the wait for the next, short. */
const MAX_BATCH = 1_000;
/** Under load a commit gathers for as long as this, milliseconds: what a crash makes come again stays small. */
const GATHER_MS = 20;
/** When storage is lost, a batch is tried again after this long, doubling … */
const RETRY_MS = 100;
/** … up to this long. */
const RETRY_MAX_MS = 5_000;

/** What became of something handed in to be settled. */
export type SettleResult =
	| "settled"
	/** The lease had passed to another node: nothing was written. */
	| "stale"
	/** Storage refuses this project's outcomes for a reason that trying again will not mend. Nothing was written. */
	| "refused";

/** One change of a lane: an attempt with what follows from it, or just a position that moved. */
export interface SettleItem {
	/** The lease that it was made under: one object for an actor's life. */
	readonly lease: { readonly projectId: string; readonly generation: number };
	readonly attempt: NewAttempt | null;
	/** The delivery's next attempt. */
	readonly schedule: Retry | null;
	/** The delivery waits no longer. */
	readonly unschedule: { readonly webhookId: string; readonly seq: number } | null;
	readonly lane: LaneProgress | null;
	/** Called once, after the commit. */
	readonly done: (result: SettleResult) => void;
}

/**
 * Commits outcomes of all projects together. Nothing is ever given up because storage is away: a batch is tried until
 * it is committed or its lease is gone, while lanes stop starting at the bound.
 */
export class Settler {
	readonly #storage: Pick<DeliveryStorage, "settle">;
	readonly #clock: Clock;
	readonly #logger: Logger;
	readonly #commits: GroupCommit<SettleItem>;
	#roomWaiters: (() => void)[] = [];

	constructor(storage: Pick<DeliveryStorage, "settle">, clock: Clock, logger: Logger) {
		this.#storage = storage;
		this.#clock = clock;
		this.#logger = logger;
		this.#commits = new GroupCommit({
			commit: (batch) => this.#commit(batch),
			weigh: () => 1,
			maxWeight: MAX_BATCH,
			gatherMaxMs: GATHER_MS,
		});
	}

	add(item: SettleItem): void {
		this.#commits.add(item);
	}

	/** Whether lanes may start more. When not, {@link onRoom} tells once when they may again. */
	get hasRoom(): boolean {
		return this.#commits.waitingWeight < COMMITS.outcomesWaiting;
	}

	onRoom(callback: () => void): void {
		this.#roomWaiters.push(callback);
	}

	/** Resolves when all that was added is settled. */
	drain(): Promise<void> {
		return this.#commits.drain();
	}

	async #commit(batch: SettleItem[]): Promise<void> {
		const groups = groupByLease(batch);
		const results = await this.#settle(groups.map((group) => group.settlement));
		groups.forEach((group, i) => {
			for (const item of group.items) item.done(results[i]!);
		});
		if (this.hasRoom) for (const callback of this.#roomWaiters.splice(0)) callback();
	}

	async #settle(settlements: Settlement[]): Promise<SettleResult[]> {
		for (let waitMs = RETRY_MS; ; waitMs = Math.min(waitMs * 2, RETRY_MAX_MS)) {
			try {
				return await this.#storage.settle(settlements);
			} catch (error) {
				if (error instanceof StorageError && error.code === "closed") return settlements.map(() => "stale");
				if (!(error instanceof StorageError)) return this.#refused(settlements, error);
				this.#logger.error(
					{ err: error, settlements: settlements.length, retryInMs: waitMs },
					"outcomes wait: storage is away",
				);
				await new Promise<void>((resolve) => this.#clock.setTimeout(resolve, waitMs));
			}
		}
	}

	/** One of them is refused: each is tried by itself, so that the others are not held up. */
	async #refused(settlements: Settlement[], error: unknown): Promise<SettleResult[]> {
		const results: SettleResult[] = [];
		if (settlements.length > 1) for (const one of settlements) results.push(...(await this.#settle([one])));
		else
			for (const { projectId } of settlements) {
				this.#logger.error({ err: error, projectId }, "outcomes refused by storage");
				results.push("refused");
			}
		return results;
	}
}

interface Group {
	readonly settlement: Settlement;
	readonly items: SettleItem[];
}

function groupByLease(batch: readonly SettleItem[]): Group[] {
	const groups = new Map<SettleItem["lease"], SettleItem[]>();
	for (const item of batch) {
		const items = groups.get(item.lease);
		if (items) items.push(item);
		else groups.set(item.lease, [item]);
	}
	return [...groups.values()].map((items) => ({ items, settlement: settlementOf(items) }));
}

/** A delivery may move twice within a batch, and a lane many times: the last word counts. */
function settlementOf(items: readonly SettleItem[]): Settlement {
	const attempts: NewAttempt[] = [];
	const schedule = new Map<string, Retry>();
	const unschedule = new Map<string, { webhookId: string; seq: number }>();
	const lanes = new Map<string, LaneProgress>();
	for (const item of items) {
		if (item.attempt) attempts.push(item.attempt);
		if (item.schedule) {
			const key = `${item.schedule.webhookId}/${item.schedule.seq}`;
			unschedule.delete(key);
			schedule.set(key, item.schedule);
		}
		if (item.unschedule) {
			const key = `${item.unschedule.webhookId}/${item.unschedule.seq}`;
			schedule.delete(key);
			unschedule.set(key, item.unschedule);
		}
		if (item.lane) lanes.set(item.lane.webhookId, item.lane);
	}
	return {
		projectId: items[0]!.lease.projectId,
		generation: items[0]!.lease.generation,
		attempts,
		schedule: [...schedule.values()],
		unschedule: [...unschedule.values()],
		lanes: [...lanes.values()],
	};
}
