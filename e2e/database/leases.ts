import { until } from "@posthorn/testkit";
import type { PostgresServer } from "@posthorn/testkit/postgres";

const ASK_MS = 100;

/** The node that owns a project, and how often its lease changed hands. */
export interface Held {
	readonly holder: string;
	readonly generation: number;
	/** When it expires unless renewed, milliseconds since the Unix epoch. */
	readonly until: number;
}

/** Reads each project's lease holder from the database, by project id. */
async function readLeases(server: PostgresServer, database: string): Promise<Map<string, Held>> {
	const rows = await server.execute(
		`SELECT p.id, l.holder, l.generation::float8, l.until::float8
		FROM posthorn.leases l JOIN posthorn.projects p ON p.no = l.project_no WHERE l.until IS NOT NULL`,
		database,
	);
	return new Map(rows.map(({ id, ...held }) => [id as string, held as unknown as Held]));
}

export const holdersOf = (leases: ReadonlyMap<string, Held>): Set<string> =>
	new Set([...leases.values()].map(({ holder }) => holder));

/** Resolves with the leases once they are as expected. */
export async function untilLeases(
	server: PostgresServer,
	database: string,
	wanted: (leases: ReadonlyMap<string, Held>) => boolean,
): Promise<Map<string, Held>> {
	return until("leases to be as wanted", async () => {
		const leases = await readLeases(server, database);
		if (wanted(leases)) return leases;
		await new Promise((go) => setTimeout(go, ASK_MS));
		return null;
	});
}
