import { encodeEnvelope } from "@posthorn/protocol";
import type { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { PostgresServer } from "../../../../../testkit/src/postgres/postgres.ts";
import { until } from "../../../../../testkit/src/until.ts";
import { clock, publish, refusal, SharedDatabase } from "../../../../test/storage/postgres/publish.ts";
import type { NewEvent } from "../../port.ts";

const TYPE = "customer.created";
const TYPES = [TYPE, "delivery.success", "delivery.failed"];

describe("a store's transaction", () => {
	let server: PostgresServer;
	let database: SharedDatabase;
	let client: Client;
	let project: string;

	beforeAll(async () => {
		server = await PostgresServer.start();
	});
	afterAll(() => server.stop());
	beforeEach(async () => {
		database = await SharedDatabase.open(server);
		client = await database.connect();
		project = await database.project();
		await client.query("CREATE TABLE public.orders (n bigint PRIMARY KEY)");
	});
	afterEach(() => database.close());

	/** Appends as a node does: like the engine, retries while a store's transaction holds the log. */
	async function byNode(projectId: string, data = "{}", type = TYPE): Promise<void> {
		const id = database.ids.next("event");
		const createdAt = clock.now();
		const body = encodeEnvelope({ id, type, createdAt, projectId, data });
		const event: NewEvent = { id, type, createdAt, createdAtGiven: false, body };
		const request = { projectId, publishedAt: createdAt, events: [event] };
		for (let kind = "locked"; kind === "locked"; ) {
			const [result] = await database.storage.appendEvents({ requests: [request], waits: true });
			kind = result!.kind;
		}
	}

	const told = async (projectId = project) =>
		(await database.log(projectId)).map(({ seq, body }) => [seq, JSON.parse(Buffer.from(body).toString()).data]);

	const numbered = (n: number, type = TYPE) => publish(client, { project, type, data: JSON.stringify({ n }) });

	test("rolled-back events leave no gap and no row", async () => {
		await numbered(1);
		await client.query("BEGIN; INSERT INTO orders VALUES (2)");
		await numbered(2);
		await client.query("ROLLBACK");
		await client.query("BEGIN; INSERT INTO orders VALUES (3); SAVEPOINT before");
		await numbered(3);
		await client.query("ROLLBACK TO before");
		await numbered(4);
		await client.query("SAVEPOINT after");
		expect((await refusal(publish(client, { project, type: "x", data: "{}" }))).code).toBe("22023");
		await client.query("ROLLBACK TO after; COMMIT");
		expect(await told()).toEqual([
			[1, { n: 1 }],
			[2, { n: 4 }],
		]);
		expect((await client.query("SELECT n FROM orders")).rows).toEqual([{ n: "3" }]);
		expect((await client.query("SELECT FROM posthorn.publishing")).rows).toEqual([]);
	});

	test("a transaction that has published blocks no others: events are numbered at commit", async () => {
		await client.query("BEGIN");
		await numbered(1);
		await numbered(2, TYPES[1]);
		await byNode(project, '{"node":true}');
		await client.query("COMMIT");
		expect(await told()).toEqual([
			[1, { node: true }],
			[2, { n: 1 }],
			[3, { n: 2 }],
		]);
	});

	test("immediate constraints number events immediately", async () => {
		await client.query("BEGIN; SET CONSTRAINTS ALL IMMEDIATE");
		await numbered(1);
		await numbered(2);
		const { rows } = await client.query("SELECT last_seq FROM posthorn.logs");
		expect(rows).toEqual([{ last_seq: "2" }]);
		await client.query("COMMIT");
		expect((await told()).map(([seq]) => seq)).toEqual([1, 2]);
	});

	test("session settings change nothing and disable no trigger", async () => {
		const escaped = '{"n":"\\\\u0041\\n"}';
		await client.query(`
			SET standard_conforming_strings = off; SET escape_string_warning = off; SET datestyle = 'SQL, DMY';
			SET timezone = 'Asia/Kathmandu'; SET session_replication_role = replica`);
		await publish(client, { project, type: TYPE, data: escaped, createdAt: "2026-02-01T00:00:00Z" });
		await publish(client, { project, type: "purchase.refunded", data: '{"order_id":"\\\\u0000","partial":true}' });
		const bodies = (await database.log(project)).map(({ body }) => Buffer.from(body).toString());
		expect(bodies).toEqual([
			expect.stringContaining(`"created_at":"2026-02-01T00:00:00.000Z","project_id":"${project}","data":${escaped}}`),
			expect.stringContaining('"data":{"order_id":"\\\\u0000","partial":true}}'),
		]);
	});

	test("concurrent transactions over several projects and nodes don't deadlock, and every log is complete", async () => {
		const projects = [project, ...(await Promise.all(Array.from({ length: 4 }, () => database.project())))];
		const [stores, rounds, size] = [6, 25, 6];
		const sent = new Map(projects.map((id) => [id, 0]));
		const count = (id: string) => sent.set(id, sent.get(id)! + 1);
		const store = async (name: number): Promise<void> => {
			const own = await database.connect();
			for (let round = 0; round < rounds; round++) {
				await own.query("BEGIN");
				for (let i = 0; i < size; i++) {
					const id = projects[Math.floor(Math.random() * projects.length)]!;
					await publish(own, {
						project: id,
						type: TYPES[i % 3]!,
						data: `{"store":${name},"place":${round * size + i}}`,
					});
					count(id);
				}
				await own.query("COMMIT");
			}
		};
		const node = async (): Promise<void> => {
			for (let round = 0; round < rounds * 4; round++) {
				const id = projects[Math.floor(Math.random() * projects.length)]!;
				await byNode(id, '{"store":"node"}', TYPES[round % 3]!);
				count(id);
			}
		};
		await Promise.all([...Array.from({ length: stores }, (_, i) => store(i)), node(), node()]);
		for (const [id, expected] of sent) {
			const log = await told(id);
			expect(log.map(([seq]) => seq)).toEqual(Array.from({ length: expected }, (_, i) => i + 1));
			for (let name = 0; name < stores; name++) {
				const places = log.filter(([, data]) => data.store === name).map(([, data]) => data.place);
				expect(places).toEqual(places.toSorted((a, b) => a - b));
			}
		}
		const { rows } = await client.query(`
			SELECT project_no, type, array_agg(type_seq ORDER BY seq) = array_agg(n ORDER BY n) AS whole FROM (
				SELECT *, row_number() OVER (PARTITION BY project_no, type ORDER BY seq) AS n FROM posthorn.events
			) e GROUP BY project_no, type`);
		expect(rows).toHaveLength(projects.length * TYPES.length);
		expect(rows.filter(({ whole }) => !whole)).toEqual([]);
	});

	test.each(["repeatable read", "serializable"])(
		"%s: events published by others since its snapshot cause a conflict; a retry succeeds",
		async (level) => {
			await client.query(`BEGIN ISOLATION LEVEL ${level}`);
			await client.query("SELECT FROM orders");
			await byNode(project, '{"node":true}');
			await numbered(1);
			expect((await refusal(client.query("COMMIT"))).code).toBe("40001");
			await client.query(`BEGIN ISOLATION LEVEL ${level}`);
			await numbered(2);
			await client.query("COMMIT");
			expect((await told()).map(([, data]) => data)).toEqual([{ node: true }, { n: 2 }]);
		},
	);

	test("the commit wakes the project unless a node holds it, even if a lease ends meanwhile", async () => {
		const { storage } = database;
		const take = async () => (await storage.acquireLeases({ holder: "node_a", limit: 10 }))[0];
		await client.query("BEGIN");
		await numbered(1);
		expect(await take()).toBeUndefined();
		await client.query("COMMIT");
		const lease = (await take())!;
		expect(lease.projectId).toBe(project);
		await numbered(2);
		expect(await storage.nextAlarm()).toBeNull();
		const { seen } = await storage.loadLanes({ projectId: project });
		expect(seen.lastSeq).toBe(2);
		// It has seen a lease that its holder releases before it publishes.
		await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
		await client.query("SELECT FROM orders");
		await storage.releaseLease({ lease, wakeAt: null, seen });
		await numbered(3);
		expect((await refusal(client.query("COMMIT"))).code).toBe("40001");
		await numbered(3);
		expect((await take())?.projectId).toBe(project);
	});

	test("listening nodes are notified of the projects at commit", async () => {
		const heard: string[] = [];
		let ring = (): void => undefined;
		database.storage.peers.subscribe((projectIds) => {
			heard.push(...projectIds);
			ring();
		});
		const hear = async (id: string): Promise<void> => {
			while (!heard.includes(id))
				await new Promise<void>((resolve) => {
					ring = resolve;
				});
		};
		const [knock, other] = [await database.project(), await database.project()];
		let listens = false;
		const listening = hear(knock).then(() => {
			listens = true;
		});
		await until("the node to listen", async () => {
			await publish(client, { project: knock, type: TYPE, data: "{}" });
			return listens;
		});
		await listening;
		heard.length = 0;
		await client.query("BEGIN");
		await numbered(1);
		await client.query("ROLLBACK; BEGIN");
		await publish(client, { project: other, type: TYPE, data: "{}" });
		await client.query("COMMIT");
		await hear(other);
		expect(heard).not.toContain(project);
	});
});
