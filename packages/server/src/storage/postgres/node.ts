import { PROJECT_WRITES, PROJECTS } from "../../base/budgets.ts";
import type { Clock } from "../../base/clock.ts";
import type { DatabaseObserver } from "../port/peers.ts";
import type { PoolName } from "./connection/connections.ts";
import type { Database } from "./connection/database.ts";
import { internTypes } from "./connection/names.ts";
import type { Session } from "./connection/session.ts";
import { StatsRollUp } from "./history/stats.ts";
import type { WaitingRoom } from "./lanes/locks.ts";
import { RightOfWay } from "./lanes/right-of-way.ts";
import { type DueTurn, FIRST_TURN, type LeaseTime } from "./leases/leases.ts";
import { ProjectWrites } from "./project-writes.ts";
import { AttemptSweep } from "./retention/retention.ts";

interface NodeOptions {
	readonly clock: Pick<Clock, "now">;
	/** How long a lease lasts unless renewed, in milliseconds. */
	readonly leaseTermMs: number;
	/** Whether leases use `clock` instead of the database's: for tests that move time. */
	readonly leasesByClock: boolean;
	readonly observer: DatabaseObserver;
}

/** One node's access to the database, and what it remembers between calls. */
export class PostgresNode {
	readonly database: Database;
	/** The node's clock, for the domain's times. */
	readonly clock: Pick<Clock, "now">;
	readonly leaseTermMs: number;
	readonly observer: DatabaseObserver;
	readonly rollUp: StatsRollUp;
	readonly rightOfWay = new RightOfWay();
	readonly attemptSweep = new AttemptSweep();
	/** Releases that wait for a project's rows. */
	readonly releases: WaitingRoom = { left: PROJECTS.releasesWaiting };
	/** Where the next call for projects with work continues. */
	dueTurn: DueTurn = FIRST_TURN;
	readonly #leasesByClock: boolean;
	readonly #projectWrites = new ProjectWrites();

	constructor(database: Database, { clock, leaseTermMs, leasesByClock, observer }: NodeOptions) {
		this.database = database;
		this.clock = clock;
		this.leaseTermMs = leaseTermMs;
		this.observer = observer;
		this.#leasesByClock = leasesByClock;
		this.rollUp = new StatsRollUp(database);
	}

	time(): LeaseTime {
		const node = this.clock.now();
		return { node, database: this.#leasesByClock ? node : null };
	}

	/** Each statement sees the newest state. */
	read<T>(work: (c: Session) => Promise<T>, pool: PoolName = "people"): Promise<T> {
		return this.database.run((connections) => connections.read(pool, work));
	}

	/** All statements see one state. */
	snapshot<T>(work: (c: Session) => Promise<T>, pool: PoolName = "people"): Promise<T> {
		return this.database.run((connections) => connections.snapshot(pool, work));
	}

	/** One transaction. `work` may run again from its beginning, so it must have no other effects. */
	write<T>(work: (c: Session) => Promise<T>, pool: PoolName = "people"): Promise<T> {
		return this.database.run((connections) => connections.transaction(pool, work));
	}

	/**
	 * The same, in turn with the project's other writes: see {@link ProjectWrites}.
	 *
	 * @param types event types that `work` uses, which may be new
	 */
	async writeInProject<T>(
		projectId: string,
		work: (c: Session) => Promise<T>,
		types: readonly string[] = [],
	): Promise<T> {
		if (types.length > 0) await this.#internTypes(types);
		return this.#projectWrites.run(projectId, (apart) =>
			this.database.run((connections) =>
				apart
					? connections.transaction("waiting", work)
					: connections.transaction("people", work, PROJECT_WRITES.lockMs),
			),
		);
	}

	/** Outside of any transaction; without a connection if all have codes, since those never change. */
	#internTypes(types: readonly string[]): Promise<void> {
		return this.database.run(async (connections) => {
			if (!types.every((type) => connections.names.types.has(type)))
				await connections.read("people", (c) => internTypes(c, types));
		});
	}
}
