import { PROJECT_WRITES } from "../../base/budgets.ts";
import type { Clock } from "../../base/clock.ts";
import type { PoolName } from "./connection/connections.ts";
import type { Database } from "./connection/database.ts";
import { ProjectWrites } from "./connection/project-writes.ts";
import type { Session } from "./connection/session.ts";
import { internTypes } from "./connection/types.ts";

/** What the parts of the port share. */
export abstract class DatabaseCalls {
	readonly #projectWrites = new ProjectWrites();
	protected readonly database: Database;
	/** The node's clock: what the domain counts with. */
	protected readonly clock: Pick<Clock, "now">;

	constructor(database: Database, clock: Pick<Clock, "now">) {
		this.database = database;
		this.clock = clock;
	}

	/** Reads, each statement by itself. */
	read<T>(work: (c: Session) => Promise<T>, pool: PoolName = "people"): Promise<T> {
		return this.database.run((connections) => connections.read(pool, work));
	}

	/** Reads several times from one state of the database. */
	readTogether<T>(work: (c: Session) => Promise<T>, pool: PoolName = "people"): Promise<T> {
		return this.database.run((connections) => connections.snapshot(pool, work));
	}

	/** Changes, all or nothing. Work may run again from its beginning: it must do nothing but its statements. */
	write<T>(work: (c: Session) => Promise<T>, pool: PoolName = "people"): Promise<T> {
		return this.database.run((connections) => connections.transaction(pool, work));
	}

	/** The same for what belongs to one project, in turn: see project-writes.ts. */
	writeTo<T>(projectId: string, work: (c: Session) => Promise<T>): Promise<T> {
		return this.#projectWrites.run(projectId, (apart) =>
			this.database.run((connections) =>
				apart
					? connections.transaction("waiting", work)
					: connections.transaction("people", work, PROJECT_WRITES.lockMs),
			),
		);
	}

	/** The same for changes that use event types, which may be new. */
	protected async writeWithTypes<T>(
		projectId: string,
		types: readonly string[],
		work: (c: Session) => Promise<T>,
	): Promise<T> {
		await this.database.run(async (connections) => {
			// What has a code keeps it: no connection is needed to know that.
			if (!types.every((type) => connections.names.types.has(type)))
				await connections.read("people", (c) => internTypes(c, types));
		});
		return this.writeTo(projectId, work);
	}
}
