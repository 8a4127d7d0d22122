import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PostgresServer, START_TIMEOUT_MS } from "../../../../testkit/src/postgres.ts";
import type { World } from "../conformance/world.ts";
import type { Claim } from "../port/neighbours.ts";
import { keptClaims } from "./claims.ts";
import { openNode, worldOf } from "./world.fixture.ts";

const HOLDER = "node_a";

let server: PostgresServer;
let url: string;
let world: World;
let client: Client;

beforeAll(async () => {
	server = await PostgresServer.start();
	url = await server.createDatabase();
	world = await worldOf((clock) => openNode(url, clock));
	client = new Client({ connectionString: url });
	await client.connect();
}, START_TIMEOUT_MS);
afterAll(async () => {
	await client?.end();
	await world?.dispose();
	await server?.stop();
});

/** What a node claims of a project of its own: two events, the first of them delivered. */
async function claimOne(): Promise<Claim> {
	const project = await world.project();
	const webhook = await world.webhook(project, ["a"]);
	const [first, second] = await world.publish(project, "a", "a");
	const lease = await world.lease(project, HOLDER);
	const attempt = await world.finish(lease, webhook, first!, "delivered");
	const { revision, lastSeq } = (await world.storage.loadLanes(project)).seen;
	await world.storage.neighbours!.acknowledge([{ lease, revision }]);
	return { lease, holder: HOLDER, revision, lastSeq, event: { seq: second!.seq, id: second!.id }, attempt };
}

test("a claim holds while everything that it rests on is there, or where it rests on less", async () => {
	const claim = await claimOne();
	const claims = [claim, { ...claim, event: null }, { ...claim, attempt: null }, { ...claim, lastSeq: 1 }];
	expect(await keptClaims(client, 0, claims)).toEqual(claims);
});

test.for<readonly [string, (claim: Claim) => Partial<Claim>]>([
	["the lease was given to another node", () => ({ holder: "node_b" })],
	["the lease had changed hands since", ({ lease }) => ({ lease: { ...lease, generation: lease.generation + 1 } })],
	["the lease is of another project", ({ lease }) => ({ lease: { ...lease, projectId: "prj_none" } })],
	["a change that the node went by is missing", ({ revision }) => ({ revision: revision + 1 })],
	["the log is shorter", ({ lastSeq }) => ({ lastSeq: lastSeq + 1 })],
	["the last event is missing", ({ event }) => ({ event: { ...event!, seq: 3 } })],
	["another event has the number of the last one", ({ event }) => ({ event: { ...event!, id: "evt_other" } })],
	["the last attempt is missing", ({ attempt }) => ({ attempt: { ...attempt!, attempt: 2 } })],
	[
		"the last attempt was made by another node",
		({ attempt }) => ({ attempt: { ...attempt!, id: world.id("attempt") } }),
	],
])("a claim does not hold when %s", async ([, change]) => {
	const claim = await claimOne();
	expect(await keptClaims(client, 0, [{ ...claim, ...change(claim) }, claim])).toEqual([claim]);
});

test("a claim of an epoch before the last does not hold", async () => {
	const claim = await claimOne();
	expect(await keptClaims(client, 0, [claim])).toEqual([claim]);
	expect(await keptClaims(client, 1, [claim])).toEqual([]);
});

test("a claim does not hold once the lease is released", async () => {
	const claim = await claimOne();
	expect(await keptClaims(client, 0, [claim])).toEqual([claim]);
	await world.storage.releaseLease(claim.lease, null, { lastSeq: claim.lastSeq, revision: claim.revision });
	expect(await keptClaims(client, 0, [claim])).toEqual([]);
});
