import { PostgresServer } from "@posthorn/testkit/postgres";
import { afterAll, beforeAll } from "vitest";
import { openPostgresStorage } from "../src/storage/postgres/index.ts";
import { LEASE_TERM_MS } from "./engine-rig.ts";
import { describeEngine } from "./engine-suite.ts";
import { giveDatabaseBack, takeDatabase } from "./storage/postgres/databases.ts";

let server: PostgresServer;
beforeAll(async () => {
	server = await PostgresServer.start();
});
afterAll(() => server.stop());

describeEngine("PostgreSQL", true, async () => {
	const url = await takeDatabase(server);
	return {
		open: (clock, leaseTermMs = LEASE_TERM_MS) => openPostgresStorage({ url, clock, leaseTermMs, leasesByClock: true }),
		remove: () => giveDatabaseBack(server, url),
	};
});
