import { Budget } from "../../base/budget.ts";
import { COMMITS } from "../../base/budgets.ts";
import { type Clock, sleep } from "../../base/clock.ts";
import { GroupCommit } from "../../base/group-commit.ts";
import type { Logger } from "../../base/logger.ts";
import { RepeatedFailure } from "../../base/repeated-failure.ts";
import {
	type DeliveryStorage,
	isPartial,
	isStorageError,
	type LaneProgress,
	type NewAttempt,
	type Retry,
	type Settlement,
	type Verdict,
} from "../../storage/port.ts";
import { runByHalves } from "../halves.ts";

/** Maximum time to batch outcomes under load, milliseconds. It limits how many attempts a crash repeats. */
const GATHER_MS = 20;
/** First delay before retrying a batch when storage is lost. It doubles … */
const RETRY_MS = 100;
/** … up to this, … */
const RETRY_MAX_MS = 5_000;
/** … or this if some projects may be writable, because their later outcomes wait for this batch. */
const PARTIAL_RETRY_MAX_MS = 1_000;

/** How long a stopping node waits for rows locked by another session, milliseconds. */
const STOP_PATIENCE_MS = 10_000;

export type SettleResult =
	| "settled"
	/** Another node has the lease: nothing was written. */
	| "stale"
	/** Storage rejects this project's outcomes for a reason that retrying won't fix. Nothing was written. */
	| "refused";

/** One change of a lane: an attempt and its consequences, or only a new position. */
export interface Change {
	readonly attempt: NewAttempt | null;
	/** The delivery's next attempt. */
	readonly schedule: Retry | null;
	/** Set instead of `schedule` if the delivery no longer waits for an attempt. */
	readonly unschedule: { readonly webhookId: string; readonly seq: number } | null;
	readonly lane: LaneProgress | null;
}

export interface SettleItem extends Change {
	/** The lease that it was made under: one object for an actor's life, whose generation changes with the epoch. */
	readonly lease: { readonly projectId: string; readonly generation: number };
	/** Called once, after the commit. */
	readonly done: (result: SettleResult) => void;
}

/**
 * Commits the outcomes of all projects together, in turn by project. Outcomes are never dropped because storage is
 * unavailable, or their project's rows are locked by another session or damaged: they are retried until they are
 * committed or their lease is gone. At its limit a project starts nothing more. A project whose rows are locked or
 * damaged starts nothing at all, and doesn't count towards the limits of the others.
 */
export class Settler {
	/** Outcomes that wait for or are in a commit, except those of locked projects. */
	readonly budget = new Budget({
		name: "settle_queue_outcomes",
		limit: COMMITS.outcomesWaiting,
		perOwner: COMMITS.outcomesWaitingPerProject,
		leavesRoom: true,
	});
	readonly #storage: Pick<DeliveryStorage, "settle">;
	readonly #clock: Clock;
	readonly #logger: Logger;
	readonly #failure: RepeatedFailure;
	readonly #commits: GroupCommit<SettleItem>;
	/** Projects whose rows are locked by another session or damaged, and their number of waiting outcomes. */
	readonly #locked = new Map<string, number>();
	readonly #roomWaiters = new Map<string, (() => void)[]>();
	/**
	 * Leases with rejected outcomes, each identified by the object of its actor. Later outcomes depend on the rejected
	 * ones: a lane's position would skip events that are neither settled nor open.
	 */
	readonly #ended = new WeakSet<SettleItem["lease"]>();
	/** Number of searches for projects that can't be written. */
	#searches = 0;
	/** How long the next batch waits if none of its projects can be written, milliseconds; 0 once one was. */
	#pauseMs = 0;

	constructor(storage: Pick<DeliveryStorage, "settle">, clock: Clock, disk: Clock, logger: Logger) {
		this.#storage = storage;
		this.#clock = clock;
		this.#logger = logger;
		this.#failure = new RepeatedFailure(
			{ logger, clock },
			{ failed: "storage is unavailable: outcomes wait to be committed", over: "outcomes are committed again" },
		);
		this.#commits = new GroupCommit({
			clock: disk,
			ownerOf: ({ lease }) => lease.projectId,
			commit: (batch, apart) => this.#commit(batch, apart),
			weigh: () => 1,
			maxWeight: COMMITS.outcomes,
			gatherMaxMs: GATHER_MS,
			giveUp: (items) => this.#giveUp(items),
		});
	}

	add(item: SettleItem): void {
		const { projectId } = item.lease;
		const locked = this.#locked.get(projectId);
		if (locked === undefined) this.budget.hold(projectId, 1);
		else this.#locked.set(projectId, locked + 1);
		this.#commits.add(item);
	}

	/** Whether the project's lanes may start more. If not, {@link onRoom} calls back once when they may again. */
	hasRoom(projectId: string): boolean {
		return !this.#locked.has(projectId) && this.budget.refusal(projectId, 1) === null;
	}

	onRoom(projectId: string, callback: () => void): void {
		const waiters = this.#roomWaiters.get(projectId);
		if (waiters) waiters.push(callback);
		else this.#roomWaiters.set(projectId, [callback]);
	}

	/**
	 * Starts stopping: outcomes whose rows are still locked after {@link STOP_PATIENCE_MS} are left uncommitted. The next
	 * owner of their projects repeats those attempts.
	 */
	stop(): void {
		this.#commits.end(STOP_PATIENCE_MS);
	}

	drain(): Promise<void> {
		return this.#commits.drain();
	}

	#giveUp(items: readonly SettleItem[]): void {
		for (const [projectId, given] of Map.groupBy(items, ({ lease }) => lease.projectId)) {
			this.#locked.delete(projectId);
			this.#logger.error(
				{ projectId, outcomes: given.length },
				"outcomes were not written: another transaction held the project's rows, or they are damaged; they will be sent again",
			);
			for (const item of given) item.done("stale");
		}
	}

	async #commit(batch: SettleItem[], apart: boolean): Promise<SettleItem[]> {
		const groups = groupByLease(batch);
		const live = groups.filter(({ lease }) => !this.#ended.has(lease));
		if (live.length > 0) await this.#settle(live, apart);
		const locked: SettleItem[] = [];
		for (const { lease, items, result } of groups) {
			const { projectId } = lease;
			if (result === "locked") {
				locked.push(...items);
				this.#becameLocked(projectId);
				continue;
			}
			if (result !== "settled") this.#ended.add(lease);
			this.#becameFree(projectId);
			this.budget.give(projectId, items.length);
			for (const item of items) item.done(result);
		}
		this.#callWaiting();
		return locked;
	}

	#becameLocked(projectId: string): void {
		if (this.#locked.has(projectId)) return;
		const outcomes = this.budget.heldBy(projectId);
		this.budget.give(projectId, outcomes);
		this.#locked.set(projectId, outcomes);
	}

	#becameFree(projectId: string): void {
		const outcomes = this.#locked.get(projectId);
		if (outcomes === undefined) return;
		this.#locked.delete(projectId);
		this.budget.hold(projectId, outcomes);
	}

	#callWaiting(): void {
		for (const [projectId, callbacks] of this.#roomWaiters) {
			if (!this.hasRoom(projectId)) continue;
			this.#roomWaiters.delete(projectId);
			for (const callback of callbacks) callback();
		}
	}

	/** Commits these groups and sets their results. Those of a closed database stay stale. */
	async #settle(groups: readonly Group[], apart: boolean): Promise<void> {
		for (let waitMs = RETRY_MS; ; waitMs = Math.min(waitMs * 2, RETRY_MAX_MS)) {
			const settlements = groups.map(settlementNow);
			try {
				const verdicts = await this.#storage.settle({ settlements, waits: apart });
				for (const [i, group] of groups.entries()) group.result = verdicts[i]!;
				this.#failure.succeeded();
				this.#pauseMs = 0;
				return;
			} catch (error) {
				if (isStorageError(error) && error.code === "closed") return;
				if (!isStorageError(error) || error.code === "locked") return this.#settleHalves(groups, apart, error);
				if (isPartial(error)) return this.#settleWritable(groups, apart);
				this.#failure.failed(error, { settlements: groups.length, retryInMs: waitMs });
				await sleep(this.#clock, waitMs);
			}
		}
	}

	/** Finds the group that is rejected, or that has a locked row which no statement checks for; settles the others. */
	async #settleHalves(groups: readonly Group[], apart: boolean, error: unknown): Promise<void> {
		const half = Math.ceil(groups.length / 2);
		if (groups.length > 1) {
			for (const part of [groups.slice(0, half), groups.slice(half)]) await this.#settle(part, apart);
			return;
		}
		const group = groups[0]!;
		group.result = isStorageError(error) ? "locked" : "refused";
		if (group.result === "refused")
			this.#logger.error({ err: error, projectId: group.lease.projectId }, "storage rejected outcomes");
	}

	/**
	 * Some rows can't be written, for instance on a damaged page. Their projects wait like locked ones, and the others
	 * don't wait for them.
	 */
	async #settleWritable(groups: readonly Group[], apart: boolean): Promise<void> {
		const ran = await runByHalves(groups, {
			run: (part) => this.#storage.settle({ settlements: part.map(settlementNow), waits: apart }),
			ownerOf: ({ lease }) => lease.projectId,
			number: this.#searches++,
		});
		const unwritable = new Map<Group, unknown>();
		const failedOtherwise: Group[] = [];
		for (const [group, one] of ran) {
			if ("result" in one) group.result = one.result;
			else if (isPartial(one.error)) unwritable.set(group, one.error);
			else failedOtherwise.push(group);
		}
		for (const group of unwritable.keys()) group.result = "locked";
		if (unwritable.size + failedOtherwise.length < groups.length) this.#pauseMs = 0;
		await this.#reportUnwritable(unwritable, unwritable.size === groups.length);
		if (failedOtherwise.length > 0) await this.#settle(failedOtherwise, apart);
	}

	/**
	 * If none of several projects can be written, either the whole database is affected, or only damaged projects have
	 * outcomes. Such batches then wait, longer each time, until one is written.
	 */
	async #reportUnwritable(errors: ReadonlyMap<Group, unknown>, areAll: boolean): Promise<void> {
		const projects = new Set([...errors.keys()].map(({ lease }) => lease.projectId));
		if (!areAll || projects.size === 1) {
			for (const [{ lease }, error] of errors) this.#failure.failed(error, { projectId: lease.projectId });
			return;
		}
		const [error] = errors.values();
		this.#failure.failed(error, { settlements: errors.size, retryInMs: this.#pauseMs });
		await sleep(this.#clock, this.#pauseMs);
		this.#pauseMs = Math.min(Math.max(RETRY_MS, this.#pauseMs * 2), PARTIAL_RETRY_MAX_MS);
	}
}

type Changes = Omit<Settlement, "projectId" | "generation">;

/** A batch's outcomes of one lease. */
interface Group {
	readonly lease: SettleItem["lease"];
	readonly changes: Changes;
	readonly items: readonly SettleItem[];
	/** Stale until it is settled. */
	result: Verdict | SettleResult;
}

const groupByLease = (batch: readonly SettleItem[]): Group[] =>
	[...Map.groupBy(batch, ({ lease }) => lease)].map(([lease, items]) => {
		return { lease, items, changes: changesOf(items), result: "stale" };
	});

/** The lease's generation may have changed since the last try. */
const settlementNow = ({ lease, changes }: Group): Settlement => ({
	projectId: lease.projectId,
	generation: lease.generation,
	...changes,
});

/** Merges changes. A delivery may change twice within a batch, and a lane many times: the last change counts. */
export function changesOf(items: readonly Change[]): Changes {
	if (items.length === 1) {
		const [{ attempt, schedule, unschedule, lane }] = items as [Change];
		return {
			attempts: listOf(attempt),
			schedule: listOf(schedule),
			unschedule: listOf(unschedule),
			lanes: listOf(lane),
		};
	}
	const attempts: NewAttempt[] = [];
	/** The last change of each delivery. */
	const deliveries = new Map<string, Change>();
	const lanes = new Map<string, LaneProgress>();
	for (const item of items) {
		const { attempt, lane } = item;
		const delivery = item.schedule ?? item.unschedule;
		if (attempt) attempts.push(attempt);
		if (delivery) deliveries.set(`${delivery.webhookId}/${delivery.seq}`, item);
		if (lane) lanes.set(lane.webhookId, lane);
	}
	const changes = [...deliveries.values()];
	return {
		attempts,
		schedule: changes.flatMap(({ schedule }) => schedule ?? []),
		unschedule: changes.flatMap(({ unschedule }) => unschedule ?? []),
		lanes: [...lanes.values()],
	};
}

const listOf = <T>(item: T | null): T[] => (item === null ? [] : [item]);

/** Counts uncommitted outcomes of attempts, for the log line of a stopping node. */
export class Unsettled {
	#waiting = 0;
	#lost = 0;
	#stopping = false;

	/** Outcomes that wait for their commit; once the node stops, includes those left uncommitted. */
	get count(): number {
		return this.#waiting + this.#lost;
	}

	begin(): void {
		this.#waiting += 1;
	}

	end(result: SettleResult): void {
		this.#waiting -= 1;
		if (this.#stopping && result !== "settled") this.#lost += 1;
	}

	stop(): void {
		this.#stopping = true;
	}
}
