import { Client } from "pg";
import { afterAll, beforeAll } from "vitest";
import { PostgresServer, START_TIMEOUT_MS } from "../../../../../testkit/src/postgres.ts";
import { describeClaims } from "../../../../test/storage/conformance/claims.ts";
import { openNode, worldOf } from "../../../../test/storage/postgres/world.ts";
import { keptClaims } from "./claims.ts";

let server: PostgresServer;
let url: string;
let client: Client;

beforeAll(async () => {
	server = await PostgresServer.start();
	url = await server.createDatabase();
	client = new Client({ connectionString: url });
	await client.connect();
}, START_TIMEOUT_MS);
afterAll(async () => {
	await client?.end();
	await server?.stop();
});

describeClaims("PostgreSQL", async () => ({
	world: await worldOf((clock) => openNode(url, clock)),
	kept: (epoch, claims) => keptClaims(client, epoch, claims),
}));
