import { until } from "@posthorn/testkit";
import { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { PostgresServer, START_TIMEOUT_MS } from "../../../../../testkit/src/postgres.ts";
import type { World } from "../../../../test/storage/conformance/world.ts";
import { giveDatabaseBack, takeDatabase } from "../../../../test/storage/postgres/databases.ts";
import { openNode, worldOf } from "../../../../test/storage/postgres/world.ts";
import { CLOCK_SEEN } from "../../verbs/clock.ts";
import { quarantinePostgres } from "./quarantine.ts";

const BACKUP_AT = 1795232856000;

let server: PostgresServer;
let url: string;
let world: World;
beforeAll(async () => {
	server = await PostgresServer.start();
}, START_TIMEOUT_MS);
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

test("marks a database that no node uses, and ends its sessions and sign-in links", async () => {
	await run(`
		INSERT INTO posthorn.accounts VALUES ('acc_1', 'a@example.com', 'a@example.com', 'A', true, 'hash', 1);
		INSERT INTO posthorn.sessions VALUES ('ses_1', '\\x01', 'acc_1', 1, 1, 4102444800000, false, '', '');
		INSERT INTO posthorn.links VALUES ('\\x02', 'sign_in', 'acc_1', 4102444800000)`);
	expect(await quarantinePostgres(url)).toEqual({ backupAt: BACKUP_AT });
	expect(await marks()).toHaveLength(1);
	expect(await run("SELECT FROM posthorn.accounts")).toHaveLength(1);
	expect(await run("SELECT FROM posthorn.sessions")).toEqual([]);
	expect(await run("SELECT FROM posthorn.links")).toEqual([]);
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
