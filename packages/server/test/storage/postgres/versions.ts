import { type PostgresOptions, PostgresServer, systemBinaries } from "../../../../testkit/src/postgres/postgres.ts";

/** The last version before npm's. */
const LAST = 17;

/**
 * The servers that plans are checked on, each with its name: npm's, and the oldest one of the system that has at least
 * this version.
 */
export async function versionsFrom(
	oldest: number,
): Promise<readonly { readonly name: string; readonly options: PostgresOptions }[]> {
	const older = await systemBinaries(oldest, LAST);
	const all: PostgresOptions[] = [{ own: true }, ...(older === null ? [] : [{ own: true, binDirectory: older }])];
	return Promise.all(
		all.map(async (options) => ({ name: `PostgreSQL ${await PostgresServer.version(options)}`, options })),
	);
}
