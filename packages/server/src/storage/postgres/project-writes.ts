import { PROJECT_WRITES } from "../../base/budgets.ts";
import { FairQueue } from "../../base/turns.ts";
import { StorageError } from "../port.ts";
import { isLocked, LOCKED } from "./connection/errors.ts";

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
export class ProjectWrites {
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
