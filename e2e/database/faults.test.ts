/**
 * Nodes whose PostgreSQL fails. A publisher keeps publishing and repeats events that weren't acknowledged. In the end each
 * of them is in the log once and has arrived everywhere in order, and the delivery log matches what receivers saw. Most
 * of the time is spent waiting, so the faults happen concurrently.
 */
import { PostgresServer } from "@posthorn/testkit/postgres";
import { afterAll, beforeAll, describe } from "vitest";
import { testClocks } from "./clocks.ts";
import { testCommits } from "./commits.ts";
import { testDisk } from "./disk.ts";
import { testFailover } from "./failover.ts";
import { testNetwork } from "./network.ts";
import { testStop } from "./stop.ts";

let server: PostgresServer;
beforeAll(async () => {
	server = await PostgresServer.start({ own: true });
});
afterAll(() => server.stop());

describe.concurrent("faults of PostgreSQL", { timeout: 600_000 }, () => {
	testNetwork(() => server);
	testCommits(() => server);
	testClocks(() => server);
	testStop(() => server);
	testDisk();
	testFailover();
});
