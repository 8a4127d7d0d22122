import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openPostgresStorage } from "@posthorn/server/storage/postgres";
import { openSqliteStorage } from "@posthorn/server/storage/sqlite";
import { Posthorn, until, unusedPort } from "@posthorn/testkit";
import { PostgresServer } from "@posthorn/testkit/postgres";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Stats } from "../packages/server/src/storage/port.ts";
import { MIGRATIONS as POSTGRES } from "../packages/server/src/storage/postgres/migrations/index.ts";
import { APPLICATION_ID, MIGRATIONS as SQLITE } from "../packages/server/src/storage/sqlite/migrations/index.ts";

/** Settings with which the recorded databases were made. */
const OPERATOR_KEY = "o".repeat(40);
const SEAL_KEY = Buffer.alloc(32, 7).toString("base64");
/** An hour from now: the recorded retries stay pending, as if just scheduled, and the basket isn't abandoned. */
const NOT_DUE = Date.now() + 3_600_000;
/** The day on which they were made. */
const RECORDED = Date.UTC(2026, 10, 24);
/** How many migrations revision 3eb0d3e had. */
const SCHEMA = { sqlite: 5, postgres: 7 };

/** What is in them. */
const SQLITE_FACTS = {
	project: "proj_01m865xd27e009phz9k0fkrsmm",
	good: "wh_01m865xd4ae00934em2cw9mnd2",
	bad: "wh_01m865xd7ke009xf87nv8k9z7r",
	paused: "wh_01m865xd92e00bt87yvs4p21x3",
	key: "phk_AbMP6cgHv7kMa7CbORkWP7zhfA9rmYWIZVvIYYMjpW4",
	// One of the six was a test event's, which is no longer counted.
	counted: 5,
};
const POSTGRES_FACTS = {
	project: "proj_01m865xph6e00ayjve6p0qw6fn",
	good: "wh_01m865xpj2e0086r8jraved4vf",
	bad: "wh_01m865xpjge00bf0yfvb4dsbm2",
	paused: "wh_01m865xpn5e00a0pxqzeqswxh7",
	key: "phk_ywsml07HuFmZyS1vtPzTrzW-Zdx6dJuok-wvvB8RUtQ",
	// The recorded revision had counted the test event's, too.
	counted: 6,
};

const recorded = (name: string): string => readFileSync(new URL(`recorded/${name}`, import.meta.url), "utf8");

const setNotDue = (schema: string): string =>
	["retries", "store_baskets"].map((table) => `UPDATE ${schema}${table} SET due_at = ${NOT_DUE};`).join(" ");

let server: PostgresServer;
let folder: string;
beforeAll(async () => {
	folder = mkdtempSync(join(tmpdir(), "posthorn-recorded-"));
	server = await PostgresServer.start();
});
afterAll(async () => {
	await server.stop();
	rmSync(folder, { recursive: true });
});

function onSqlite(): string {
	const path = join(folder, "posthorn.db");
	const db = new DatabaseSync(path);
	for (const step of SQLITE.slice(0, SCHEMA.sqlite)) db.exec(step);
	db.exec(`PRAGMA user_version = ${SCHEMA.sqlite}; PRAGMA application_id = ${APPLICATION_ID};`);
	// Migrations also insert rows.
	const rows = recorded("3eb0d3e-sqlite.sql").replaceAll(/^INSERT/gm, "INSERT OR REPLACE");
	db.exec(`PRAGMA foreign_keys = OFF; ${rows} ${setNotDue("")}`);
	db.close();
	return `sqlite:${path}`;
}

async function onPostgres(): Promise<string> {
	const url = await server.createDatabase();
	const client = new Client({ connectionString: url });
	await client.connect();
	try {
		await client.query(`
			CREATE SCHEMA posthorn;
			CREATE TABLE posthorn.schema_versions (
				version integer PRIMARY KEY,
				applied_at timestamptz NOT NULL DEFAULT now()
			);
			INSERT INTO posthorn.schema_versions SELECT generate_series(1, ${SCHEMA.postgres})`);
		for (const step of POSTGRES.slice(0, SCHEMA.postgres)) await client.query(step);
		// In any order of the tables.
		await client.query(`
			SET session_replication_role = replica;
			TRUNCATE posthorn.settings, posthorn.event_types;
			${recorded("3eb0d3e-postgres.sql")}
			${setNotDue("posthorn.")}`);
	} finally {
		await client.end();
	}
	return url;
}

test.each([
	["SQLite", onSqlite, SQLITE_FACTS],
	["PostgreSQL", onPostgres, POSTGRES_FACTS],
])("a database of revision 3eb0d3e continues on %s", async (_, database, facts) => {
	const url = await database();
	const settings = {
		POSTHORN_PORT: String(await unusedPort()),
		POSTHORN_DATABASE_URL: url,
		POSTHORN_SEAL_KEY: SEAL_KEY,
		POSTHORN_OPERATOR_KEY: OPERATOR_KEY,
		POSTHORN_EGRESS_ALLOW: "127.0.0.0/8",
		POSTHORN_LOG_LEVEL: "error",
		POSTHORN_LOG_RETENTION_DAYS: "3650",
	};
	const service = await Posthorn.start({ settings });
	// biome-ignore lint/suspicious/noExplicitAny: any response of the service
	const call = async (method: string, path: string, body?: object, key = OPERATOR_KEY): Promise<any> => {
		const response = await fetch(`${service.url}/v1/projects/${facts.project}${path}`, {
			method,
			headers: { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/json" }) },
			...(body && { body: JSON.stringify(body) }),
		});
		expect(response.status, `${method} ${path}`).toBeLessThan(300);
		return await response.json();
	};
	try {
		const webhooks = (await call("GET", "/webhooks")).data;
		expect(webhooks.map(({ id, status }: { id: string; status: string }) => [id, status])).toEqual([
			[facts.good, "active"],
			[facts.bad, "active"],
			[facts.paused, "paused"],
		]);
		expect((await call("GET", `/webhooks/${facts.paused}`)).backlog.events).toBe(3);
		const attempts = (await call("GET", "/attempts?limit=200", undefined, facts.key)).data;
		expect(attempts).toHaveLength(12);
		expect(attempts.filter(({ status }: { status: string }) => status === "delivered")).toHaveLength(6);
		expect((await call("GET", "/waiting")).data).toHaveLength(3);

		const order = (n: number, email: string) => ({
			order_id: `ord_${n}`,
			customer_email: email,
			amount_cents: 1000 + n,
			currency: "EUR",
			items: [{ product_id: "vip", name: "VIP rank", quantity: 1, unit_amount_cents: 1000 + n }],
		});
		const typesOf = ({ events }: { events: { type: string }[] }) => events.map(({ type }) => type);
		// A repeated report, a known customer's next order, and a new customer's first one.
		expect(typesOf(await call("POST", "/orders", order(1, "buyer1@example.com")))).toEqual([
			"customer.created",
			"purchase.completed",
		]);
		expect(typesOf(await call("POST", "/orders", order(4, "Buyer1@example.com")))).toEqual(["purchase.completed"]);
		expect(typesOf(await call("POST", "/orders", order(5, "new@example.com")))).toEqual([
			"customer.created",
			"purchase.completed",
		]);
		const types = (await call("GET", "/events?limit=100")).data.map(({ type }: { type: string }) => type);
		expect(types.filter((type: string) => type === "purchase.completed")).toHaveLength(5);
		// Nothing listens where the receiver was: its seal key still signs, and the attempt is made.
		await until("an attempt of a new event", async () => {
			const newest = (await call("GET", `/attempts?webhook_id=${facts.good}&limit=200`)).data;
			return newest.some(({ error_code }: { error_code: string }) => error_code === "connection_refused");
		});
		await call("POST", `/webhooks/${facts.good}/rotate-secret`);
	} finally {
		await service.stop();
	}
	expect(await statsThen(url, facts.project)).toMatchObject({ delivered: facts.counted, retrying: 6, failed: 0 });
});

/** The attempts of the day on which the databases were recorded. */
async function statsThen(url: string, projectId: string): Promise<Stats["total"]> {
	const options = { clock: { now: () => Date.now() }, leaseTermMs: 10_000 };
	const storage = url.startsWith("postgres:")
		? await openPostgresStorage({ url, ...options })
		: await openSqliteStorage({ path: url.slice("sqlite:".length), ...options });
	try {
		const query = { since: RECORDED, until: RECORDED + 86_400_000, stepMs: 3_600_000 };
		return (await storage.readStats({ projectId, query })).total;
	} finally {
		await storage.close();
	}
}
