import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { PostgresServer } from "../../../../../testkit/src/postgres/postgres.ts";
import { describeClocks } from "../../../../test/storage/conformance/clocks.ts";
import { giveDatabaseBack, takeDatabase } from "../../../../test/storage/postgres/databases.ts";
import { LEASE_TERM_MS } from "../../../../test/storage/postgres/world.ts";
import { openPostgresStorage } from "../index.ts";

let server: PostgresServer;
let url: string;
beforeAll(async () => {
	server = await PostgresServer.start();
});
afterAll(() => server.stop());
beforeEach(async () => {
	url = await takeDatabase(server);
});
afterEach(() => giveDatabaseBack(server, url));

describeClocks("PostgreSQL", (aheadMs) => {
	const clock = { now: () => Date.now() + aheadMs };
	return openPostgresStorage({ url, clock, leaseTermMs: LEASE_TERM_MS });
});
