import { until } from "@posthorn/testkit";
import { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { PostgresServer } from "../../../../../testkit/src/postgres/postgres.ts";
import type { World } from "../../../../test/storage/conformance/world.ts";
import { giveDatabaseBack, takeDatabase } from "../../../../test/storage/postgres/databases.ts";
import { openNode, worldOf } from "../../../../test/storage/postgres/world.ts";
import { CLOCK_SEEN } from "../../port.ts";
import { beginQuarantine, quarantinePostgres } from "./quarantine.ts";

const BACKUP_AT = 1795232856000;

let server: PostgresServer;
let url: string;
let world: World;
beforeAll(async () => {
	server = await PostgresServer.start();
});
afterAll(() => server.stop());
beforeEach(async () => {
	url = await takeDatabase(server);
	world = await worldOf((clock) => openNode(url, clock));
	await world.project();
	await world.storage.setSetting({ name: CLOCK_SEEN, value: String(BACKUP_AT) });
	await world.storage.close();
});
afterEach(() => giveDatabaseBack(server, url));

const run = (text: string) => server.execute(text, url);
const marks = () => run("SELECT name FROM posthorn.settings WHERE name = 'quarantine'");
const IN_USE = { code: "in_use", message: expect.stringMatching(/^A node uses this database/) };
/** What a node does when it takes a lease. */
const TAKE = "UPDATE posthorn.leases SET wake_at = NULL, holder = 'node_a', until = posthorn.now_ms() + 10000";

test("marks a database that no node uses, and ends its sessions, links and invitations", async () => {
	await run(`
		INSERT INTO posthorn.invitations (id, token_hash, project_no, role, inviter_kind, inviter_name, created_at, expires_at)
			SELECT 'inv_1', '\\x03', no, 'owner', 'operator', 'A', 1, 4102444800000 FROM posthorn.projects;
		INSERT INTO posthorn.accounts VALUES ('acc_1', 'a@example.com', 'a@example.com', 'A', true, 'hash', 1);
		INSERT INTO posthorn.sessions VALUES ('ses_1', '\\x01', 'acc_1', 1, 1, 4102444800000, false, '', '');
		INSERT INTO posthorn.links VALUES ('\\x02', 'sign_in', 'acc_1', 4102444800000)`);
	expect(await quarantinePostgres(url)).toEqual({ backupAt: BACKUP_AT });
	expect(await marks()).toHaveLength(1);
	expect(await run("SELECT FROM posthorn.accounts")).toHaveLength(1);
	expect(await run("SELECT FROM posthorn.sessions")).toEqual([]);
	expect(await run("SELECT FROM posthorn.links")).toEqual([]);
	expect(await run("SELECT FROM posthorn.invitations")).toEqual([]);
});

describe("a copy of the database that wasn't taken over", () => {
	/** What the first node that starts on a restored dump finds: its tables are others than the dump says. */
	const OTHER_TABLES = "UPDATE posthorn.epochs SET system = split_part(system, '/', 1) || '/1', id = 'of the copy'";
	const node = (seenAt: string) => `INSERT INTO posthorn.nodes (holder, seen_at) VALUES ('node_a', ${seenAt})`;
	const startNode = async () => (await worldOf((clock) => openNode(url, clock))).storage.close();

	// Its nodes sent pending deliveries as soon as they started.
	test("is marked by the first node that starts on it, if nodes ran when it was taken", async () => {
		await run(`${OTHER_TABLES}; ${node(String(BACKUP_AT))}`);
		await startNode();
		const [mark] = await run(
			"SELECT value::json ->> 'backupAt' AS at FROM posthorn.settings WHERE name = 'quarantine'",
		);
		expect(mark).toEqual({ at: String(BACKUP_AT) });
		await run("DELETE FROM posthorn.settings WHERE name = 'quarantine'");
		await startNode();
		expect(await marks()).toEqual([]);
	});

	test("is marked, too, if a node had just taken its first lease", async () => {
		await run(`${OTHER_TABLES}; ${TAKE}`);
		await startNode();
		expect(await marks()).toHaveLength(1);
	});

	const OWN_ROW = "xid = pg_current_xact_id()::xid::text::bigint";
	const OTHER_SERVER = "UPDATE posthorn.epochs SET id = 'of the copy', system = '1/' || split_part(system, '/', 2)";

	// Nodes that had been killed before left their reports, so an operator had to release the database.
	test("isn't marked after pg_upgrade, which keeps tables and rows", async () => {
		await run(`${OTHER_SERVER}, timeline = 7, ${OWN_ROW}; ${node(String(BACKUP_AT))}`);
		await startNode();
		expect(await marks()).toEqual([]);
		expect(await run("SELECT FROM posthorn.epochs")).toHaveLength(2);
	});

	test("is marked even if its tables happen to have the same numbers", async () => {
		await run(`${OTHER_SERVER}; ${node(String(BACKUP_AT))}`);
		await startNode();
		expect(await marks()).toHaveLength(1);
	});

	test("isn't marked after pg_upgrade of an epoch that the previous version began", async () => {
		await run("UPDATE posthorn.epochs SET xid = NULL");
		await startNode();
		const [row] = await run("SELECT xid = xmin::text::bigint AS known FROM posthorn.epochs");
		expect(row).toEqual({ known: true });
		await run(`${OTHER_SERVER}; ${node(String(BACKUP_AT))}; UPDATE posthorn.epochs SET xid = NULL`);
		await startNode();
		expect(await marks()).toHaveLength(1);
	});

	test("isn't marked if all nodes had stopped, nor after a failover", async () => {
		await run(OTHER_TABLES);
		await startNode();
		expect(await marks()).toEqual([]);
		await run(`UPDATE posthorn.epochs SET timeline = 0; ${node(String(BACKUP_AT))}`);
		await startNode();
		expect(await marks()).toEqual([]);
	});

	test.each([
		["an old copy under a running node is marked", "1", 1],
		["a logical replica that a running node is switched to isn't", "posthorn.now_ms()", 0],
	])("%s", async (_, seenAt, expected) => {
		const { storage } = await worldOf((clock) => openNode(url, clock));
		await run(`${OTHER_TABLES}; ${node(seenAt)}`);
		await run(
			"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'posthorn' AND datname = current_database()",
		);
		const epochs = async () => (await run("SELECT FROM posthorn.epochs")).length;
		await until("the node to join another epoch", async () => {
			await storage.ping().catch(() => undefined);
			return (await epochs()) > 1;
		});
		expect(await marks()).toHaveLength(expected);
		await storage.close();
	});
});

// It could add neither a project nor a webhook, and retention took new events for the oldest.
test("a node that starts on a logical replica continues its sequences", async () => {
	const columns = ["projects.no", "webhooks.no", "events.no", "event_types.code"].map((name) => name.split("."));
	const before = await worldOf((clock) => openNode(url, clock));
	const project = await before.project();
	await before.webhook(project, ["a"]);
	await before.publish(project, "a", "a");
	await before.storage.close();
	for (const [table, column] of columns)
		await run(`ALTER TABLE posthorn.${table} ALTER ${column} RESTART; ANALYZE posthorn.${table}`);
	await run("UPDATE posthorn.epochs SET system = '1/1', id = 'of the copy'");
	const after = await worldOf((clock) => openNode(url, clock));
	const added = await after.project();
	await after.webhook(added, ["a", "b"]);
	await after.publish(added, "a", "b");
	const rows = await run(
		"SELECT p.id FROM posthorn.events e JOIN posthorn.projects p ON p.no = e.project_no ORDER BY e.no",
	);
	expect(rows.map(({ id }) => id)).toEqual([project, project, added, added]);
	await after.storage.close();
});

test("refuses a database that a node of an earlier release uses before it migrates it", async () => {
	await run("INSERT INTO posthorn.nodes (holder, seen_at) VALUES ('node_a', posthorn.now_ms())");
	await run(`
		DELETE FROM posthorn.schema_versions WHERE version = (SELECT max(version) FROM posthorn.schema_versions)`);
	const versions = await run("SELECT version FROM posthorn.schema_versions ORDER BY version");
	await expect(quarantinePostgres(url)).rejects.toMatchObject(IN_USE);
	expect(await run("SELECT version FROM posthorn.schema_versions ORDER BY version")).toEqual(versions);
	expect(await marks()).toEqual([]);
});

test("refuses while a node that has not reported yet holds a lease", async () => {
	await run(TAKE);
	await expect(quarantinePostgres(url)).rejects.toMatchObject(IN_USE);
	expect(await marks()).toEqual([]);
});

test("waits for a node that is taking leases, and then refuses", async () => {
	const node = new Client(url);
	await node.connect();
	try {
		await node.query("BEGIN");
		await node.query(TAKE);
		const marking = quarantinePostgres(url).then(
			() => "marked",
			(error: unknown) => error,
		);
		const isWaiting = async () =>
			(await run("SELECT FROM pg_locks WHERE NOT granted AND relation = 'posthorn.leases'::regclass")).length > 0;
		await until("it to wait for the node, or to end", async () => {
			return (await isWaiting()) || (await marks()).length > 0;
		});
		await node.query("COMMIT");
		expect(await marking).toMatchObject(IN_USE);
		expect(await marks()).toEqual([]);
	} finally {
		await node.end();
	}
});

// Its nodes sent pending deliveries as soon as they started.
test("a database that its server recovered to a point in time is marked by the first node, unless its nodes had stopped", async () => {
	const recovered = await PostgresServer.start({
		own: true,
		settings: { recovery_target_time: "2026-11-24 10:00:00+00" },
	});
	try {
		const url = await recovered.createDatabase();
		const start = async () => (await worldOf((clock) => openNode(url, clock))).storage.close();
		const found = () => recovered.execute("SELECT FROM posthorn.settings WHERE name = 'quarantine'", url);
		await start();
		// The timeline that the backup was taken on.
		const BEFORE = "UPDATE posthorn.epochs SET timeline = 0, id = 'before'";
		await recovered.execute(BEFORE, url);
		await start();
		expect(await found()).toEqual([]);
		await recovered.execute(`${BEFORE}; INSERT INTO posthorn.nodes (holder, seen_at) VALUES ('node_a', 1)`, url);
		await start();
		expect(await found()).toHaveLength(1);
		await recovered.execute("DELETE FROM posthorn.settings WHERE name = 'quarantine'", url);
		await start();
		expect(await found()).toEqual([]);
	} finally {
		await recovered.stop();
	}
});

// The driver warns of more on standard error, where operators read what a restore says.
test("runs one statement at a time", async () => {
	const client = new Client({ connectionString: url });
	await client.connect();
	try {
		let running = 0;
		let most = 0;
		const query = client.query.bind(client) as (...args: unknown[]) => Promise<unknown>;
		const counted = async (...args: unknown[]) => {
			most = Math.max(most, ++running);
			try {
				return await query(...args);
			} finally {
				running--;
			}
		};
		expect(await beginQuarantine(Object.assign(client, { query: counted }))).toBe(BACKUP_AT);
		expect(most).toBe(1);
	} finally {
		await client.end();
	}
});
