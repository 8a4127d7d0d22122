import type { Clock } from "../../../src/base/clock.ts";
import { type HintListener, StorageError } from "../../../src/storage/port.ts";
import { type ColdCopy, ColdDatabase } from "./cold.ts";
import { ProjectLocks } from "./locks.ts";
import type { EpochRow, ProjectRow, WebhookRow } from "./rows.ts";
import { Journal } from "./table.ts";
import { makeTables, type Tables } from "./tables.ts";

/** A database state that can be restored until it is released. */
export interface Snapshot {
	release(): void;
}

/** The clock that leases use, and how hints reach other nodes. */
export interface MemoryDatabaseOptions {
	/** The database server's clock. `setTimeout` bounds waits for rows that another session holds. */
	readonly clock: Pick<Clock, "now" | "setTimeout">;
	/** Carries a hint from one node to the others: calls `deliver` later, or never. By default, immediately. */
	readonly carryHint?: (deliver: () => void) => void;
}

/**
 * A database in memory that several nodes may share. Every change is atomic and immediate; time and chance only come
 * from the injected functions.
 */
export class MemoryDatabase {
	readonly clock: Pick<Clock, "now" | "setTimeout">;
	readonly carryHint: (deliver: () => void) => void;
	readonly tables: Tables;
	/** The database of the cold verbs. */
	readonly cold = new ColdDatabase(() => this.tables.projects.values());
	readonly locks: ProjectLocks;
	/** Called with the projects that a node has changed. */
	readonly hints = new Set<HintListener>();
	/** Which node sweeps, and until when; without a holder, when the next pass is due. */
	sweeper: { readonly holder: string | null; readonly until: number } = { holder: null, until: 0 };
	readonly #journal = new Journal();
	readonly #snapshots = new Map<Snapshot, { readonly end: number; readonly cold: ColdCopy }>();
	/** Rises whenever the database continues from a state other than the one its nodes know. */
	#history = 1;
	#lastNo = 0;
	#lastEpochId = 0;

	constructor({ clock, carryHint = queueMicrotask }: MemoryDatabaseOptions) {
		this.clock = clock;
		this.carryHint = carryHint;
		this.locks = new ProjectLocks(clock);
		this.tables = makeTables(this.#journal);
	}

	get history(): number {
		return this.#history;
	}

	/** The current epoch, if a node has started one. */
	get epoch(): EpochRow | undefined {
		return this.tables.epochs.get(this.tables.epochs.size);
	}

	/** A number for a row: higher than all earlier ones, including lost ones. */
	nextNo(): number {
		this.#lastNo += 1;
		return this.#lastNo;
	}

	/** Eight hexadecimal digits, never repeated. */
	nextEpochId(): string {
		this.#lastEpochId += 1;
		return this.#lastEpochId.toString(16).padStart(8, "0");
	}

	project(projectId: string): ProjectRow | undefined {
		return this.tables.projects.by.id.get({ id: projectId });
	}

	/** Includes deleted ones. */
	webhook(projectNo: number, webhookId: string): WebhookRow | undefined {
		const webhook = this.tables.webhooks.by.id.get(webhookId);
		return webhook?.projectNo === projectNo ? webhook : undefined;
	}

	/** Runs changes atomically: if it throws, none are made. */
	transaction<T>(change: () => T): T {
		const begin = this.#journal.end;
		try {
			return change();
		} catch (error) {
			this.#journal.undoTo(begin);
			throw error;
		} finally {
			if (this.#snapshots.size === 0) this.#journal.dropBefore(this.#journal.end);
		}
	}

	/** Holds the project's rows as another session of the database would, until {@link unlock}. */
	lock(projectId: string): void {
		const project = this.project(projectId);
		if (project === undefined) throw new Error(`Project ${projectId} doesn't exist.`);
		this.locks.lock(project.no);
	}

	unlock(projectId: string): void {
		const project = this.project(projectId);
		if (project !== undefined) this.locks.unlock(project.no);
	}

	/**
	 * The current state, to be restored later. Costs nothing now, unless cold data has changed since the last one; while
	 * it is held, every change is remembered.
	 */
	snapshot(): Snapshot {
		const snapshot: Snapshot = { release: () => this.#release(snapshot) };
		this.#snapshots.set(snapshot, { end: this.#journal.end, cold: this.cold.copy() });
		return snapshot;
	}

	/** Continues from an earlier state, like a standby that lacks the last commits: everything after it is lost. */
	restore(snapshot: Snapshot): void {
		const state = this.#snapshots.get(snapshot);
		if (state === undefined) throw new Error("This snapshot was released, or belongs to lost history.");
		this.#journal.undoTo(state.end);
		this.cold.restore(state.cold);
		for (const [other, { end, cold }] of this.#snapshots)
			if (end > state.end || cold.version > state.cold.version) this.#snapshots.delete(other);
		this.failOver();
	}

	/** Continues like another server that lacks nothing: nodes' pending calls end, and another epoch begins. */
	failOver(): void {
		this.#history += 1;
		this.locks.clear(new StorageError("lost", "The connection to the database is lost."));
	}

	#release(snapshot: Snapshot): void {
		this.#snapshots.delete(snapshot);
		this.#journal.dropBefore(Math.min(this.#journal.end, ...[...this.#snapshots.values()].map(({ end }) => end)));
	}
}
