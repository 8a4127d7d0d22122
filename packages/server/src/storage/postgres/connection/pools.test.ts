import { once } from "node:events";
import { chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Client, Pool, type QueryResult } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { findPgbouncer, Pgbouncer } from "../../../../../testkit/src/postgres/pgbouncer.ts";
import { PostgresServer, serverUser } from "../../../../../testkit/src/postgres/postgres.ts";
import { type PoolOptions, PostgresPool } from "../../../../../testkit/src/postgres/postgres-pool.ts";
import { until } from "../../../../../testkit/src/until.ts";
import { LEASE_TERM_MS, worldOf } from "../../../../test/storage/postgres/world.ts";
import { systemClock } from "../../../base/clock.ts";
import { StorageError } from "../../port.ts";
import { migratePostgres, openPostgresStorage } from "../index.ts";
import { examinePostgres } from "./examine.ts";
import { quarantinePostgres } from "./quarantine.ts";
import { checkSessions, SESSION_SETTINGS } from "./session-settings.ts";

const SHARED = {
	code: "unusable",
	message: expect.stringMatching(/different session .* point POSTHORN_DATABASE_URL at/),
};
const pgbouncer = findPgbouncer();

describe("a pool before PostgreSQL", () => {
	let server: PostgresServer;
	let url: string;
	const pools: { close(): Promise<void> }[] = [];

	beforeAll(async () => {
		server = await PostgresServer.start({ own: true });
	});
	afterAll(() => server.stop());
	beforeEach(async () => {
		url = await server.createDatabase();
	});
	afterEach(async () => {
		await Promise.all(pools.splice(0).map((pool) => pool.close()));
		await server.dropDatabase(url);
	});

	async function pool(options: PoolOptions): Promise<string> {
		const opened = await PostgresPool.start(url, options);
		pools.push(opened);
		return opened.url;
	}

	async function bouncer(settings: Readonly<Record<string, string>>): Promise<string> {
		const opened = await Pgbouncer.start(pgbouncer!, url, settings);
		pools.push({ close: () => opened.stop() });
		return opened.url;
	}

	const open = (at: string) => openPostgresStorage({ url: at, clock: systemClock, leaseTermMs: LEASE_TERM_MS });

	/** Two nodes work through the pool, and one is notified of what the other commits. */
	async function expectToWork(at: string): Promise<void> {
		const [storage, other] = [await open(at), await open(at)];
		const world = await worldOf(async () => storage);
		const project = await world.project();
		const webhook = await world.webhook(project, ["a"]);
		const heard = new Promise<readonly string[]>((resolve) => other.peers.subscribe(resolve));
		let isHeard = false;
		void heard.then(() => {
			isHeard = true;
		});
		await until("the other node to listen", async () => {
			await world.publish(project, "a");
			return isHeard;
		});
		expect(await heard).toEqual([project]);
		const [event] = await world.log(project);
		const lease = await world.lease(project);
		for (const status of ["retrying", "failed"] as const) {
			const attempt = status === "failed" ? 2 : 1;
			const attempts = [world.attempt(webhook, event!, { status, attempt })];
			expect(await world.settle(lease, { attempts })).toBe("settled");
		}
		await other.close();
		await world.dispose();
	}

	async function expectRefusal(at: string, error: object): Promise<void> {
		await expect(open(at)).rejects.toMatchObject(error);
		await expect(open(at)).rejects.toBeInstanceOf(StorageError);
		await expect(examinePostgres(at)).rejects.toMatchObject(error);
		expect(await server.execute("SELECT FROM pg_namespace WHERE nspname = 'posthorn'", url)).toEqual([]);
	}

	test("without one, sessions start with their settings", async () => {
		await expectToWork(url);
		expect(await examinePostgres(url)).toMatchObject({ pooled: false });
	});

	test.each(["refuse", "drop"] as const)(
		"one that pools sessions works, even if it would %s startup settings",
		async (startup) => {
			const at = await pool({ startup, mode: "session" });
			await expectToWork(at);
			expect(await examinePostgres(at)).toMatchObject({ pooled: true });
		},
	);

	test.each([
		{ startup: "refuse", mode: "transaction" },
		{ startup: "drop", mode: "transaction" },
		{ startup: "drop", mode: "transaction", order: "circle" },
	] as const)("one that pools transactions is refused before anything is changed: %o", async (options) => {
		await expectRefusal(await pool(options), SHARED);
	});

	test("one that starts to pool transactions while a node runs is reported", async () => {
		const switching = await PostgresPool.start(url, { startup: "drop", mode: "session", order: "circle" });
		pools.push(switching);
		const storage = await open(switching.url);
		const use = () =>
			Promise.all([storage.ping(), storage.nextAlarm(), storage.getSetting({ name: "x" }), storage.gauges()]);
		await use();
		switching.share();
		const useUp = until("a call to fail", async () => {
			await use();
			return false;
		});
		await expect(useUp).rejects.toMatchObject(SHARED);
		await storage.close();
	});

	test("the error names a URL parameter that a pool refuses", async () => {
		const at = new URL(await pool({ startup: "refuse", mode: "session" }));
		at.searchParams.set("statement_timeout", "5");
		const error = { code: "unusable", message: expect.stringContaining("the parameter statement_timeout of") };
		await expectRefusal(at.href, error);
	});

	test("every connection has the session settings, even if they can't be startup settings", async () => {
		const otherwise = new URL(url);
		otherwise.searchParams.set("options", "-c jit=on");
		// With these defaults of the database, nodes lost connections, and NULL in arrays became text.
		for (const setting of ["array_nulls = off", "idle_session_timeout = '59s'"])
			await server.execute(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET ${setting}`, url);
		expect(SESSION_SETTINGS).toMatchObject({ array_nulls: "on", idle_session_timeout: "0" });
		for (const way of [url, await pool({ startup: "drop", mode: "session" }), otherwise.href]) {
			const { configFor } = await checkSessions(way);
			const connections = new Pool({ ...configFor(way), pipeline: true });
			const clients = await Promise.all(Array.from({ length: 3 }, () => connections.connect()));
			for (const client of clients) {
				const { rows } = await client.query("SELECT name, setting FROM pg_settings WHERE name = ANY ($1)", [
					Object.keys(SESSION_SETTINGS),
				]);
				expect(Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))).toEqual(SESSION_SETTINGS);
				client.release();
			}
			const ended = clients.map((client) => once(client, "end"));
			await connections.end();
			await Promise.all(ended);
		}
	});

	/** The owner of the database chooses where names are looked up first, until a session says otherwise. */
	async function prependFunctions(): Promise<void> {
		const used = (what: string) => `INSERT INTO shop.used VALUES ('${what}');`;
		await server.execute(
			`CREATE SCHEMA shop;
			CREATE TABLE shop.used (what text);
			CREATE FUNCTION shop.pg_backend_pid() RETURNS integer LANGUAGE plpgsql AS
				$$ BEGIN ${used("pg_backend_pid")} RETURN pg_catalog.pg_backend_pid(); END $$;
			CREATE FUNCTION shop.equal(text, text) RETURNS boolean LANGUAGE plpgsql AS
				$$ BEGIN ${used("=")} RETURN $1 OPERATOR(pg_catalog.=) $2; END $$;
			CREATE FUNCTION shop.joined(bigint, text) RETURNS text LANGUAGE plpgsql AS
				$$ BEGIN ${used("||")} RETURN $1::text || $2; END $$;
			CREATE OPERATOR shop.= (FUNCTION = shop.equal, LEFTARG = text, RIGHTARG = text);
			CREATE OPERATOR shop.|| (FUNCTION = shop.joined, LEFTARG = bigint, RIGHTARG = text);
			ALTER DATABASE ${new URL(url).pathname.slice(1)} SET search_path = shop, pg_catalog`,
			url,
		);
	}

	test("no connection uses the functions of a store, even if settings can't be startup settings", async () => {
		await prependFunctions();
		for (const startup of ["refuse", "drop"] as const) {
			const at = await pool({ startup, mode: "session" });
			await (await open(at)).close();
			await examinePostgres(at);
			await quarantinePostgres(at);
		}
		expect(await server.execute("SELECT DISTINCT what FROM shop.used", url)).toEqual([]);
	});

	// A setting made in one transaction was that of another client, and missing in the next one.
	test("migrating through one that pools transactions changes no settings of others, and uses no functions of a store", async () => {
		await prependFunctions();
		const at = await pool({ startup: "drop", mode: "transaction", order: "circle" });
		const others = Array.from({ length: 3 }, () => new Client({ connectionString: at }));
		await Promise.all(others.map((other) => other.connect()));
		const paths = async () => {
			const results = await Promise.all(others.map((other) => other.query("BEGIN; SHOW search_path")));
			await Promise.all(others.map((other) => other.query("COMMIT")));
			return new Set((results as unknown as QueryResult[][]).map(([, shown]) => shown!.rows[0].search_path));
		};
		const theirs = new Set(["shop, pg_catalog"]);
		try {
			expect(await paths()).toEqual(theirs);
			for (let times = 0; times < others.length; times++) {
				await migratePostgres(at);
				await expect(examinePostgres(at)).rejects.toMatchObject(SHARED);
			}
			expect(await paths()).toEqual(theirs);
		} finally {
			await Promise.all(others.map((other) => other.end()));
		}
		expect(await server.execute("SELECT DISTINCT what FROM shop.used", url)).toEqual([]);
	});

	const really = pgbouncer === null ? describe.skip : describe;
	really(`pgbouncer itself${pgbouncer === null ? ", which is not installed here" : ""}`, () => {
		const OURS = "ignore_startup_parameters";

		test.each([{ pool_mode: "session" }, { pool_mode: "session", [OURS]: "options" }])(
			"works with %o",
			async (settings) => {
				const at = await bouncer(settings);
				await expectToWork(at);
				expect(await examinePostgres(at)).toMatchObject({ pooled: true });
			},
		);

		test.each([
			{ pool_mode: "transaction" },
			{ pool_mode: "transaction", [OURS]: "options" },
			{ pool_mode: "transaction", [OURS]: "options", server_round_robin: "1" },
			{ pool_mode: "statement" },
		])("is refused with %o", async (settings) => {
			await expectRefusal(await bouncer(settings), SHARED);
		});

		// It has a code of its own for this: nodes kept using the old password, and called it a temporary failure.
		test.each(["scram-sha-256", "md5"])("a password that it refuses (%s) is read again", async (type) => {
			const { uid, gid } = await serverUser();
			const file = join(await mkdtemp(join(tmpdir(), "posthorn-users-")), "users");
			pools.push({ close: () => rm(dirname(file), { recursive: true }) });
			await writeFile(file, '"test" "new"\n');
			for (const path of [dirname(file), file]) if (uid !== undefined) await chown(path, uid, gid!);
			const at = new URL(await bouncer({ pool_mode: "session", auth_type: type, auth_file: file }));
			const withPassword = (password: string) => Object.assign(new URL(at), { password }).href;
			const options = { url: withPassword("old"), clock: systemClock, leaseTermMs: LEASE_TERM_MS };
			await expect(openPostgresStorage(options)).rejects.toMatchObject({
				code: "unusable",
				message: expect.stringMatching(/^PostgreSQL refuses \(.*authentication failed.*\): check the database URL/),
			});
			const storage = await openPostgresStorage({ ...options, reread: () => withPassword("new") });
			await storage.ping();
			await storage.close();
		});

		test("is refused no matter how busy others keep it", async () => {
			const at = await bouncer({ pool_mode: "transaction", default_pool_size: "8" });
			let over = false;
			const others = Array.from({ length: 4 }, async () => {
				while (!over) await server.execute("SELECT pg_sleep(random() / 500)", at);
			});
			for (let times = 0; times < 20; times++) await expect(open(at)).rejects.toMatchObject(SHARED);
			over = true;
			await Promise.all(others);
		});
	});
});
