import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
	createAuthority,
	Posthorn,
	type Receiver,
	settingsOfNodes,
	startReceiver,
	unusedPort,
	writeCaFile,
} from "@posthorn/testkit";
import { PostgresServer } from "@posthorn/testkit/postgres";
import { Client } from "pg";
import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "../../../../../testkit/src/until.ts";

const TYPE = "customer.created";

let settings: Record<string, string>;
let node: Posthorn;
let receiver: Receiver;
let store: Client;
let project: string;
/** Cleans up in reverse order. */
const undo: (() => unknown)[] = [];

beforeEach(async () => {
	const folder = mkdtempSync(join(tmpdir(), "posthorn-publish-"));
	undo.push(() => rmSync(folder, { recursive: true }));
	const server = await PostgresServer.start();
	undo.push(() => server.stop());
	const url = await server.createDatabase();
	const authority = await createAuthority();
	settings = {
		POSTHORN_DATABASE_URL: url,
		...settingsOfNodes(writeCaFile(authority, folder)),
		POSTHORN_RETRY_DELAYS: "0.2",
	};
	receiver = await startReceiver({ authority });
	undo.push(() => receiver.close());
	node = await startNode();
	undo.push(() => node.kill());
	store = new Client({ connectionString: url });
	await store.connect();
	undo.push(() => store.end());
	await store.query("CREATE TABLE public.orders (id text PRIMARY KEY)");
	project = (await call("POST", "/v1/projects", { name: "Shop" })).id as string;
	const { secret } = await call("POST", at("/webhooks"), { url: receiver.url("/"), events: [TYPE] });
	receiver.setSecret(secret as string);
});
afterEach(async () => {
	for (const step of undo.splice(0).reverse()) await step();
});

const startNode = async () => Posthorn.start({ settings: { ...settings, POSTHORN_PORT: String(await unusedPort()) } });

const at = (path: string) => `/v1/projects/${project}${path}`;

async function call(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
	const headers = {
		authorization: `Bearer ${settings.POSTHORN_OPERATOR_KEY}`,
		...(body && { "content-type": "application/json" }),
	};
	const answer = await fetch(node.url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
	const text = await answer.text();
	expect(answer.ok, text).toBe(true);
	return JSON.parse(text) as Record<string, unknown>;
}

async function publish(data: object): Promise<string> {
	const { rows } = await store.query("SELECT posthorn.publish($1, $2, $3) AS id", [project, TYPE, data]);
	return rows[0].id as string;
}

const arrived = () => receiver.requests.map(({ headers }) => headers["x-service-event-id"]);

test("events from a store's transaction arrive signed, with the log's bytes; rolled-back ones don't", async () => {
	await store.query("BEGIN; INSERT INTO orders VALUES ('ord_1')");
	await publish({ order: "ord_1" });
	await store.query("ROLLBACK; BEGIN; INSERT INTO orders VALUES ('ord_2')");
	const first = await publish({ order: "ord_2" });
	const second = await publish({ order: "ord_2", n: 2 });
	await store.query("COMMIT");
	await receiver.count(2);
	expect(arrived()).toEqual([first, second]);
	for (const { rawBody, verified, headers } of receiver.requests) {
		expect(verified).toBe(true);
		const event = await fetch(`${node.url}${at(`/events/${headers["x-service-event-id"]}`)}`, {
			headers: { authorization: `Bearer ${settings.POSTHORN_OPERATOR_KEY}` },
		});
		expect(rawBody.toString()).toBe(await event.text());
	}
});

test("a node that keeps the log's end in memory sends in log order, no matter who appends", async () => {
	const rounds = 40;
	const bySql = async () => {
		for (let n = 0; n < rounds; n++) {
			await store.query("BEGIN");
			await publish({ by: "sql", n: 2 * n });
			await publish({ by: "sql", n: 2 * n + 1 });
			await store.query(n % 5 === 4 ? "ROLLBACK" : "COMMIT");
		}
	};
	const byApi = async () => {
		for (let n = 0; n < rounds; n++) await call("POST", at("/events"), { type: TYPE, data: { by: "api", n } });
	};
	await Promise.all([bySql(), byApi()]);
	const expected = rounds + (2 * rounds * 4) / 5;
	await receiver.count(expected);
	const log: string[] = [];
	for (let after = 0; log.length < expected; ) {
		const page = await call("GET", at(`/events?limit=200&after=${after}`));
		log.push(...(page.data as { id: string }[]).map(({ id }) => id));
		after = page.last_seq as number;
	}
	expect(log).toHaveLength(expected);
	expect(arrived()).toEqual(log);
});

test("events that were published while no node ran are delivered, and can be replayed", async () => {
	await node.stop();
	const id = await publish({ n: 1 });
	node = await startNode();
	await receiver.count(1);
	const [webhook] = (await call("GET", at("/webhooks"))).data as { id: string }[];
	const delivery = at(`/webhooks/${webhook!.id}/deliveries/${id}`);
	// The receiver has responded before the outcome is stored.
	await until("the delivery to be stored", async () => (await call("GET", delivery)).state === "delivered");
	await call("POST", `${delivery}/replay`);
	await receiver.count(2);
	expect(arrived()).toEqual([id, id]);
	await node.stop();
});
