/**
 * Another database session locks a row of one project, like a store's transaction that publishes and then waits. The node
 * keeps publishing, delivering and renewing leases for other projects.
 */
import { randomBytes } from "node:crypto";
import { patience, until } from "@posthorn/testkit";
import { PostgresServer } from "@posthorn/testkit/postgres";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { purchase, type Receiver, Shop } from "./shop.ts";

/** Events published to the held project while its row is held. */
const HELD_EVENTS = 10;
/**
 * The row is released once the other project's lease has been renewed this often, and this many of its events have
 * arrived.
 */
const RENEWALS = 2;
const FREE_EVENTS = 50;

const idsAt = ({ requests }: Receiver): string[] => requests.map(({ body }) => (body as { id: string }).id);

async function connect(database: string): Promise<Client & AsyncDisposable> {
	const client = new Client({ connectionString: database });
	await client.connect();
	return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

describe("while another session holds a project's row", () => {
	let server: PostgresServer;
	beforeAll(async () => {
		server = await PostgresServer.start();
	});
	afterAll(() => server.stop());

	// One such row once stopped all publishing and delivering of the node.
	test.for(["logs", "leases", "lanes", "webhooks"])("in %s, only that project waits", async (table) => {
		const database = await server.createDatabase();
		await using shop = await Shop.open({
			POSTHORN_DATABASE_URL: database,
			POSTHORN_SEAL_KEY: randomBytes(32).toString("base64"),
		});
		const held = { id: shop.projectId, receiver: await shop.receiver() };
		await shop.webhook(held.receiver.url("/"));
		shop.projectId = (await shop.post("/v1/projects", { name: "Another store" })).body.id;
		const free = { id: shop.projectId, receiver: await shop.receiver() };
		await shop.webhook(free.receiver.url("/"));
		type Project = typeof held;
		let n = 0;
		/** Publishes an event repeatedly under the same id until it is accepted. */
		const publish = async ({ id }: Project): Promise<string> => {
			const event = { id: `evt_${randomBytes(12).toString("hex")}`, ...purchase(n++) };
			const stillInTime = patience(`${event.id} to be accepted`);
			for (;;) {
				stillInTime();
				const { status } = await shop.post(`/v1/projects/${id}/events`, event);
				if (status === 202) return event.id;
				expect(status).toBe(503);
			}
		};
		const numberOf = "(SELECT no FROM posthorn.projects WHERE id = $1)";
		await using watcher = await connect(database);
		const renewedUntil = async (): Promise<unknown> => {
			const lease = `SELECT until FROM posthorn.leases WHERE project_no = ${numberOf}`;
			return (await watcher.query(lease, [free.id])).rows[0].until;
		};
		const published = { held: [await publish(held)], free: [await publish(free)] };
		for (const { receiver } of [held, free]) await receiver.waitFor(() => receiver.requests.length === 1);

		await using other = await connect(database);
		await other.query("BEGIN");
		const hold = `SELECT FROM posthorn.${table} WHERE project_no = ${numberOf} FOR UPDATE`;
		expect((await other.query(hold, [held.id])).rowCount).toBe(1);
		const publishingHeld = (async () => {
			for (let i = 0; i < HELD_EVENTS; i++) published.held.push(await publish(held));
		})();
		const publishFree = async (): Promise<void> => {
			const { status, body } = await shop.post(`/v1/projects/${free.id}/events`, purchase(n++));
			expect(status).toBe(202);
			published.free.push(body.id);
			await free.receiver.waitFor(() => free.receiver.requests.length === published.free.length);
		};
		const terms = new Set([await renewedUntil()]);
		for (let i = 0; i < FREE_EVENTS; i++) await publishFree();
		await until("the other project's lease to be renewed while its events are delivered", async () => {
			await publishFree();
			return terms.add(await renewedUntil()).size > RENEWALS;
		});
		await other.query("COMMIT");

		await publishingHeld;
		await held.receiver.waitFor(() => held.receiver.requests.length === published.held.length);
		expect(idsAt(free.receiver)).toEqual(published.free);
		expect(idsAt(held.receiver)).toEqual(published.held);
		for (const { id } of [held, free]) {
			const delivered = async () => await shop.all(`/v1/projects/${id}/attempts?status=delivered`);
			const all = id === held.id ? published.held : published.free;
			const rows = await until("all deliveries to be logged", async () => {
				const found = await delivered();
				return found.length >= all.length && found;
			});
			expect(rows.map(({ event_id, attempt }) => `${event_id} ${attempt}`).sort()).toEqual(
				all.map((event) => `${event} 1`).sort(),
			);
		}
	});
});
