import { type PostgresOptions, PostgresServer, systemBinaries } from "../../../../testkit/src/postgres/postgres.ts";

/** The oldest supported version, and the last one before npm's. */
export const OLDEST = 14;
export const LAST = 17;

/** npm's server, and the oldest one installed on the system that has at least this version, each with its name. */
export async function versionsFrom(
	oldest = OLDEST,
): Promise<readonly { readonly name: string; readonly options: PostgresOptions }[]> {
	const older = await systemBinaries(oldest, LAST);
	const all: PostgresOptions[] = [{ own: true }, ...(older === null ? [] : [{ own: true, binDirectory: older }])];
	return Promise.all(
		all.map(async (options) => ({ name: `PostgreSQL ${await PostgresServer.version(options)}`, options })),
	);
}
