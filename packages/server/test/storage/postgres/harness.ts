import { afterAll, beforeAll } from "vitest";
import { type PostgresOptions, PostgresServer } from "../../../../testkit/src/postgres/postgres.ts";
import type { Clock } from "../../../src/base/clock.ts";
import type { Storage } from "../../../src/storage/port.ts";
import { openPostgresStorage } from "../../../src/storage/postgres/index.ts";
import { describeStorage } from "../conformance/suite.ts";
import { giveDatabaseBack, takeDatabase } from "./databases.ts";

const LEASE_TERM_MS = 15_000;

/** What every engine has to pass, on the server that these options name; its version is in the tests' names. */
export async function describePostgres(options: PostgresOptions = {}): Promise<void> {
	const version = await PostgresServer.version(options);
	let server: PostgresServer;
	beforeAll(async () => {
		server = await PostgresServer.start(options);
	});
	afterAll(() => server.stop());

	/** Which database and clock a storage was opened with. */
	const opened = new Map<Storage, { url: string; clock: Pick<Clock, "now"> }>();

	async function openAt(url: string, clock: Pick<Clock, "now">): Promise<Storage> {
		const storage = await openPostgresStorage({ url, clock, leaseTermMs: LEASE_TERM_MS, leasesByClock: true });
		opened.set(storage, { url, clock });
		return storage;
	}

	async function closed(storage: Storage): Promise<{ url: string; clock: Pick<Clock, "now"> }> {
		await storage.close();
		const how = opened.get(storage)!;
		opened.delete(storage);
		return how;
	}

	describeStorage({
		name: `PostgreSQL ${version}`,
		manyNodes: true,
		leaseTermMs: LEASE_TERM_MS,
		open: async ({ clock }) => openAt(await takeDatabase(server), clock),
		reopen: async (storage) => {
			const { url, clock } = await closed(storage);
			return openAt(url, clock);
		},
		dispose: async (storage) => {
			const { url } = await closed(storage);
			await giveDatabaseBack(server, url);
		},
	});
}
