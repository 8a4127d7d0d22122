import { PROJECT_WRITES, PROJECTS } from "../../base/budgets.ts";
import type { Clock } from "../../base/clock.ts";
import { FairQueue } from "../../base/turns.ts";
import type { DatabaseObserver } from "../port/peers.ts";
import { StorageError } from "../port.ts";
import type { PoolName } from "./connection/connections.ts";
import type { Database } from "./connection/database.ts";
import { isLocked, LOCKED } from "./connection/errors.ts";
import { internTypes } from "./connection/names.ts";
import type { Session } from "./connection/session.ts";
import { StatsRollUp } from "./history/stats.ts";
import type { WaitingRoom } from "./lanes/locks.ts";
import { RightOfWay } from "./lanes/settle.ts";
import { type DueTurn, FIRST_TURN, type LeaseTime } from "./leases/leases.ts";
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

const BUSY = "Too many changes of this project wait for the database.";

/** `apart`: on a connection of the pool `waiting`, where it may wait for rows up to the session's limit. */
type Write<T> = (apart: boolean) => Promise<T>;

/** Writes of a project that are rejected together: those queued when one of them timed out on a lock. */
interface Round {
	locked: unknown;
}

interface Project {
	pending: number;
	/** How many of them wait or run in the pool `waiting`. */
	apart: number;
	round: Round;
}

/**
 * Keeps a few projects whose rows another session holds from taking all connections of the API. Writes of one project
 * run one at a time, in order. Together they leave connections for everything else, and each waits for a row only
 * briefly. One that meets a lock is retried on separate connections, where it waits longer; so are the project's later
 * writes, until one succeeds. There, locked projects wait only for each other. If a write times out there, those queued
 * after it are rejected with it.
 */
class ProjectWrites {
	// The limit on waiting ones is enforced here, so these queues refuse nothing.
	readonly #queue = new FairQueue({ ...PROJECT_WRITES, waiting: Number.POSITIVE_INFINITY });
	readonly #apart = new FairQueue({ perOwner: 1, running: PROJECT_WRITES.apart, waiting: Number.POSITIVE_INFINITY });
	/** Those with writes. */
	readonly #projects = new Map<string, Project>();
	/** Those with writes in the pool `waiting`. */
	#projectsApart = 0;
	/** Projects whose last write met a lock. */
	readonly #locked = new Set<string>();

	/**
	 * Rejects as `busy` if the maximum number of the project's writes already waits, and as `locked` if its rows stay
	 * locked.
	 */
	async run<T>(projectId: string, write: Write<T>): Promise<T> {
		const project = this.#projects.get(projectId) ?? { pending: 0, apart: 0, round: { locked: null } };
		if (project.pending >= PROJECT_WRITES.perOwner + PROJECT_WRITES.waiting) throw new StorageError("busy", BUSY);
		project.pending += 1;
		this.#projects.set(projectId, project);
		const { round } = project;
		try {
			const written = await this.#queue.run(projectId, () => this.#tryBriefly(projectId, round, write))!;
			return written === "locked" ? await this.#writeApart(projectId, project, round, write) : written.value;
		} finally {
			project.pending -= 1;
			if (project.pending === 0) this.#projects.delete(projectId);
		}
	}

	async #tryBriefly<T>(projectId: string, round: Round, write: Write<T>): Promise<{ readonly value: T } | "locked"> {
		if (round.locked !== null) throw round.locked;
		if (this.#locked.has(projectId)) return "locked";
		try {
			return { value: await write(false) };
		} catch (error) {
			if (!isLocked(error)) throw error;
			this.#locked.add(projectId);
			if (this.#locked.size > PROJECT_WRITES.lockedRemembered) this.#locked.delete(this.#locked.values().next().value!);
			return "locked";
		}
	}

	async #writeApart<T>(projectId: string, project: Project, round: Round, write: Write<T>): Promise<T> {
		if (round.locked !== null) throw round.locked;
		if (project.apart === 0) {
			if (this.#projectsApart >= PROJECT_WRITES.apart + PROJECT_WRITES.apartWaiting)
				throw new StorageError("locked", LOCKED);
			this.#projectsApart += 1;
		}
		project.apart += 1;
		try {
			return await this.#apart.run(projectId, () => this.#waitForRows(projectId, project, round, write))!;
		} finally {
			project.apart -= 1;
			if (project.apart === 0) this.#projectsApart -= 1;
		}
	}

	async #waitForRows<T>(projectId: string, project: Project, round: Round, write: Write<T>): Promise<T> {
		if (round.locked !== null) throw round.locked;
		try {
			const value = await write(true);
			this.#locked.delete(projectId);
			return value;
		} catch (error) {
			if (isLocked(error)) {
				round.locked = error;
				// Later ones belong to another round.
				if (project.round === round) project.round = { locked: null };
			}
			throw error;
		}
	}
}
