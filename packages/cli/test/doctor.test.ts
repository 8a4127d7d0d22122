import { once } from "node:events";
import {
	chmodSync,
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { Posthorn, until, unusedPort } from "@posthorn/testkit";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { findPgbouncer, Pgbouncer } from "../../testkit/src/postgres/pgbouncer.ts";
import { PostgresServer } from "../../testkit/src/postgres/postgres.ts";
import { COMMAND, doctor, expectFault, expectHealthy, expectWarning, newFolder, run } from "./doctor.fixture.ts";

const CLOCK_AHEAD = fileURLToPath(new URL("../../../e2e/database/clock-ahead.ts", import.meta.url));
const SEAL_KEY = Buffer.alloc(32, 7).toString("base64");
const pgbouncer = findPgbouncer();

describe("on SQLite", () => {
	test("passes before the first start, and creates nothing", async () => {
		const cwd = newFolder();
		const report = await doctor({}, cwd);
		expectHealthy(report);
		expect(Object.keys(report.lines)).toEqual(
			expect.arrayContaining(["Configuration", "Database", "Open files", "Names", "Egress"]),
		);
		expect(report.lines.Database!.text).toMatch(/created at the first start/);
		expect(readdirSync(cwd)).toEqual([]);
	});

	test("passes while the service is running, without affecting it", async () => {
		const cwd = newFolder();
		const settings = { POSTHORN_PORT: String(await unusedPort()) };
		const service = await Posthorn.start({ settings, cwd });
		const report = await doctor(settings, cwd);
		expectHealthy(report);
		expect(report.lines.Database!.text).toMatch(/posthorn\.db, [\d.]+ GB free/);
		expect(report.lines.Address!.text).toMatch(/is this service's\.$/);
		expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
		await service.stopWith(0);
		expectHealthy(await doctor(settings, cwd));
	});

	test("reports an address of another machine, and a port that another program uses", async () => {
		const elsewhere = await doctor({ POSTHORN_HOST: "192.0.2.1" });
		expect(elsewhere.code).toBe(1);
		expect(elsewhere.lines.Address).toEqual({
			state: "fault",
			text: "Cannot listen on 192.0.2.1: it isn't an address of this machine (EADDRNOTAVAIL); check POSTHORN_HOST.",
		});
		const server = createServer((request, response) => void response.end(request.url)).listen(0, "127.0.0.1");
		await once(server, "listening");
		const { port } = server.address() as AddressInfo;
		const taken = await doctor({ POSTHORN_PORT: String(port) });
		expect(taken).toMatchObject({ code: 0, lines: { Address: { state: "warning" } } });
		expect(taken.lines.Address!.text).toMatch(/^Another program uses port \d+ of 127\.0\.0\.1: stop it/);
		server.close();
		await once(server, "close");
		const free = await doctor({ POSTHORN_PORT: String(port) });
		expect(free.lines.Address).toEqual({ state: "ok", text: `Port ${port} of 127.0.0.1 is free.` });
	});

	test("reports a wrong, missing, readable or damaged seal key, as the service does", async () => {
		const cwd = newFolder();
		const settings = { POSTHORN_PORT: String(await unusedPort()) };
		await (await Posthorn.start({ settings, cwd })).stop();
		const file = join(cwd, "data/posthorn.sealkey");
		const key = readFileSync(file);
		await expectFault(
			await doctor({ POSTHORN_SEAL_KEY: SEAL_KEY }, cwd),
			"Seal key",
			/not the one .* Restore the right one/,
		);
		rmSync(file);
		await expectFault(await doctor({}, cwd), "Seal key", /is missing: restore your copy of the key/);
		expect(existsSync(file)).toBe(false);
		writeFileSync(file, "half a key", { mode: 0o600 });
		await expectFault(await doctor({}, cwd), "Seal key", /is damaged.* Restore your copy/);
		writeFileSync(file, key);
		expectHealthy(await doctor({}, cwd));
		// On Windows, the mode doesn't say who may read a file.
		if (process.platform === "win32") return;
		chmodSync(file, 0o644);
		await expectFault(await doctor({}, cwd), "Seal key", /can be read by other users; .* chmod 600/);
	});

	test("reports a file that isn't a database or has a newer version, and leaves it unchanged", async () => {
		const cwd = newFolder();
		const notes = join(cwd, "notes.txt");
		writeFileSync(notes, "longer than a hundred bytes, so that it is read as a database: ".repeat(5));
		await expectFault(
			await doctor({ POSTHORN_DATABASE_URL: "sqlite:notes.txt" }, cwd),
			"Database",
			/name another file/,
		);
		const newer = new DatabaseSync(join(cwd, "newer.db"));
		newer.exec("PRAGMA user_version = 999; PRAGMA application_id = 0x7068726e; CREATE TABLE t (x)");
		newer.close();
		const report = await doctor({ POSTHORN_DATABASE_URL: "sqlite:newer.db" }, cwd);
		await expectFault(report, "Database", /newer version .*schema 999.*: start that version/);
		expect(readdirSync(cwd).sort()).toEqual(["newer.db", "notes.txt"]);
	});

	// It asked to give the file to the service's user.
	test("reports a file in place of a folder", async () => {
		const cwd = newFolder();
		writeFileSync(join(cwd, "data"), "");
		await expectFault(await doctor({}, cwd), "Database", /\/data is not a folder: choose another location/);
		const deeper = await doctor({ POSTHORN_DATABASE_URL: "sqlite:data/sub/posthorn.db" }, cwd);
		await expectFault(deeper, "Database", /\/data is not a folder/);
	});

	// Doctor said that the database will be created. The service failed, and asked to let its user write to the folder.
	test("reports a link to a disk that isn't mounted", async () => {
		const cwd = newFolder();
		symlinkSync("disk", join(cwd, "data"));
		const fault = /\/data is a link to a folder that doesn't exist: mount its disk/;
		await expectFault(await doctor({}, cwd), "Database", fault);
		const deeper = { POSTHORN_DATABASE_URL: "sqlite:data/sub/posthorn.db" };
		await expectFault(await doctor(deeper, cwd), "Database", fault);
		mkdirSync(join(cwd, "disk"));
		expectHealthy(await doctor(deeper, cwd));
	});

	// It read the database without its log, and looked at the link's folder.
	test("follows a link to the database, while the service runs", async () => {
		const cwd = newFolder();
		mkdirSync(join(cwd, "disk"), { mode: 0o700 });
		mkdirSync(join(cwd, "data"), { mode: 0o700 });
		symlinkSync("../disk/real.db", join(cwd, "data/posthorn.db"));
		const settings = { POSTHORN_PORT: String(await unusedPort()) };
		const service = await Posthorn.start({ settings, cwd });
		expect(readdirSync(join(cwd, "disk")).sort()).toEqual(["real.db", "real.db-shm", "real.db-wal", "real.db.lock"]);
		const report = await doctor(settings, cwd);
		expectHealthy(report);
		expect(report.lines["Seal key"]!.text).toBe("Matches the database.");
		await service.stopWith(0);
		chmodSync(join(cwd, "disk"), 0o777);
		expect((await doctor(settings, cwd)).lines.Folder?.text).toMatch(/\/disk,/);
	});

	test("reports all wrong settings with exit code 2 before any other check", async () => {
		const report = await doctor({ POSTHORN_PORT: "x", POSTHORN_SEAL_KEY: "short", POSTHORN_HOTS: "a" });
		expect(report).toMatchObject({ code: 2, lines: {} });
		expect(report.err.trim().split("\n").sort()).toEqual([
			expect.stringMatching(
				/^POSTHORN_HOTS is not a Posthorn setting\. Did you mean POSTHORN_HOST\? posthorn serve --help lists them all\.$/,
			),
			expect.stringMatching(/^POSTHORN_PORT is "x"; it must be /),
			// A secret is never quoted.
			expect.stringMatching(/^POSTHORN_SEAL_KEY is not valid; it must be 32 bytes .* openssl rand -base64 32\.$/),
		]);
	});

	test("warns about settings that expose deliveries or passwords", async () => {
		expectWarning(await doctor({ POSTHORN_EGRESS_ALLOW: "10.0.0.0/8" }), "Egress", /10\.0\.0\.0\/8/);
		const denying = await doctor({ POSTHORN_EGRESS_DENY: "198.41.0.4", POSTHORN_EGRESS_PORTS: "443,8000-8999" });
		expect(denying.lines.Egress).toEqual({
			state: "ok",
			text: "Deliveries only go to public addresses that aren't this machine's. Never to 198.41.0.4/32. Only to ports 443, 8000-8999.",
		});
		expectWarning(await doctor({ POSTHORN_EGRESS_PORTS: "8443" }), "Egress", /listen on 443/);
		expectWarning(await doctor({ POSTHORN_HOST: "0.0.0.0" }), "Dashboard", /TLS proxy .* POSTHORN_PUBLIC_URL/);
		const plain = { POSTHORN_PUBLIC_URL: "http://hooks.example.com" };
		expectWarning(await doctor(plain), "Dashboard", /At http:.* over plain HTTP.* let the proxy terminate TLS/);
		expectHealthy(await doctor({ POSTHORN_PUBLIC_URL: "http://shop.localhost:8420" }));
		const proxied = { POSTHORN_PUBLIC_URL: "https://hooks.example.com" };
		expectWarning(await doctor(proxied), "Dashboard", /POSTHORN_TRUST_PROXY is not set/);
		expectHealthy(await doctor({ ...proxied, POSTHORN_TRUST_PROXY: "10.0.0.0/8" }));
	});

	test.skipIf(process.platform === "win32")("warns about a folder that others may write to", async () => {
		const folder = join(newFolder(), "open");
		mkdirSync(folder);
		chmodSync(folder, 0o777);
		const settings = { POSTHORN_DATABASE_URL: `sqlite:${folder}/posthorn.db` };
		const { Folder } = (await doctor(settings)).lines;
		expect(Folder).toMatchObject({ state: "warning", text: expect.stringMatching(/All users .* chmod 700/) });
		chmodSync(folder, 0o755);
		expectHealthy(await doctor(settings));
	});

	test("reports a database path that is a folder", async () => {
		const folder = newFolder();
		await expectFault(
			await doctor({ POSTHORN_DATABASE_URL: `sqlite:${folder}` }),
			"Database",
			/is not a file: the database needs one/,
		);
	});

	// Root may write everywhere.
	test.skipIf(process.platform === "win32" || process.getuid?.() === 0)(
		"reports a folder that can't be written to",
		async () => {
			const folder = join(newFolder(), "closed");
			mkdirSync(folder, { mode: 0o500 });
			const report = await doctor({ POSTHORN_DATABASE_URL: `sqlite:${folder}/posthorn.db` });
			await expectFault(report, "Database", /closed cannot be written to \(EACCES\): give it to the service's user/);
		},
	);
});

describe("on PostgreSQL", () => {
	let server: PostgresServer;
	let url: string;
	let settings: Readonly<Record<string, string>>;

	beforeAll(async () => {
		// Durable, or doctor would object.
		server = await PostgresServer.start({ own: true, fsync: true });
		await server.execute("CREATE ROLE shop LOGIN PASSWORD 'right'");
	});
	afterAll(() => server.stop());
	beforeEach(async () => {
		url = await server.createDatabase();
		settings = { POSTHORN_DATABASE_URL: url, POSTHORN_SEAL_KEY: SEAL_KEY };
		return () => server.dropDatabase(url);
	});

	const at = (databaseUrl: string) => ({ ...settings, POSTHORN_DATABASE_URL: databaseUrl });
	const migrate = (env = settings) => run([COMMAND, "migrate"], env, newFolder());
	const nameOf = (databaseUrl: string) => databaseUrl.slice(databaseUrl.lastIndexOf("/") + 1);
	const schemas = () => server.execute("SELECT FROM pg_namespace WHERE nspname = 'posthorn'", url);

	test("passes from an empty database to a running node, and only migrate changes anything", async () => {
		const empty = await doctor(settings);
		expectHealthy(empty);
		expect(empty.lines.Schema!.text).toMatch(/next start, or by posthorn migrate/);
		expect(await schemas()).toEqual([]);

		expect(await migrate()).toMatchObject({ code: 0, out: "The schema is up to date.\n", err: "" });
		const ready = await doctor(settings);
		expectHealthy(ready);
		const place = `${new URL(url).host}/${nameOf(url)}`;
		expect(ready.lines.Database!.text).toMatch(new RegExp(`^PostgreSQL [\\w. ()-]+ at ${place} responds\\.$`));
		expect(ready.lines.Schema!.text).toBe("Up to date.");
		expect(ready.lines.Encryption!.text).toMatch(/doesn't leave this machine/);
		expect(ready.lines.Clock!.text).toMatch(/^Within [\d.]+ s of the database's\.$/);

		const node = await Posthorn.start({ settings: { ...settings, POSTHORN_PORT: String(await unusedPort()) } });
		// The banner shows neither user nor password.
		await node.hasPrinted(/Database +PostgreSQL at .*\n/);
		expect(node.output).toContain(`PostgreSQL at ${place}\n`);
		expectHealthy(await doctor(settings));
		await node.stopWith(0);
		const other = { ...settings, POSTHORN_SEAL_KEY: Buffer.alloc(32, 8).toString("base64") };
		await expectFault(await doctor(other), "Seal key", /not the one .* Restore the right one/);
	});

	test("says why a database is missing or refuses this user", async () => {
		const away = await doctor(at(`postgres://test@127.0.0.1:${await unusedPort()}/posthorn`));
		await expectFault(away, "Database", /cannot be reached \(.*ECONNREFUSED.*: check that it is running/);
		// Both once announced a retry, and ended.
		const gone = at(`postgres://test@127.0.0.1:${await unusedPort()}/posthorn`);
		const told = {
			code: 1,
			out: "",
			err: expect.stringMatching(/^.*cannot be reached \(.*: check that it is running.*\n$/),
		};
		expect(await run([COMMAND, "migrate"], gone, newFolder())).toMatchObject(told);
		const missing = await doctor(at(url.replace(/\/\w+$/, "/elsewhere")));
		await expectFault(missing, "Database", /"elsewhere" does not exist.*: check the database URL/);
		const stranger = await doctor(at(url.replace("test@", "stranger@")));
		await expectFault(
			stranger,
			"Database",
			/"stranger" does not exist.*: check the database URL and its user's permissions/,
		);
	});

	// It said that PostgreSQL couldn't be reached, and to check that it is running.
	test("says which file of the database URL can't be read", async () => {
		const report = await doctor(at(`${url}?sslmode=verify-full&sslrootcert=/nowhere/ca.pem`));
		await expectFault(report, "Database", /^A file .* can't be read \(ENOENT.*\/nowhere\/ca\.pem.*: check sslrootcert/);
	});

	// "URI malformed", it said.
	test("says what to do about a % that isn't encoded", async () => {
		const report = await doctor(at(`${url}%ff`));
		await expectFault(
			report,
			"Database",
			/^POSTHORN_DATABASE_URL has a % .*: write a % in a name or a password as %25/,
		);
	});

	// The doctor found nothing, and the migration failed at one of its characters.
	test("reports a new database whose encoding lacks characters", async () => {
		await server.execute(
			`CREATE DATABASE ${nameOf(url)}_latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`,
		);
		const report = await doctor(at(`${url}_latin`));
		await expectFault(
			report,
			"Database",
			/encoding is LATIN1, which lacks characters: create one with ENCODING 'UTF8'/,
		);
	});

	// The doctor found nothing, and the migration failed.
	test("a user who owns the schema needn't be allowed to create others", async () => {
		await server.execute("CREATE SCHEMA posthorn AUTHORIZATION shop", url);
		const other = at(url.replace("test@", "shop:right@"));
		expectHealthy(await doctor(other));
		const migrated = { code: 0, out: "The schema is up to date.\n", err: "" };
		expect(await run([COMMAND, "migrate"], other, newFolder())).toEqual(migrated);
		expectHealthy(await doctor(other));
	});

	// It said that the schema was up to date.
	test("reports missing tables, keys and indexes, and how to create the last two again", async () => {
		await migrate();
		await server.execute(
			`ALTER TABLE posthorn.retries DROP CONSTRAINT retries_pkey; DROP INDEX posthorn.attempts_failed`,
			url,
		);
		const report = await doctor(settings);
		expect(report).toMatchObject({ code: 0, lines: { Schema: { state: "ok" }, Indexes: { state: "warning" } } });
		const [, statements] = /Create them again: (.*)$/.exec(report.lines.Indexes!.text)!;
		await server.execute(statements!, url);
		expectHealthy(await doctor(settings));
		await server.execute("ALTER TABLE posthorn.retries SET SCHEMA public", url);
		await expectFault(
			await doctor(settings),
			"Schema",
			/^Tables are missing: posthorn\.retries\. If .* moved, undo that/,
		);
	});

	// Without one of the first two, it said that another version had migrated the schema; without the last, that it would
	// be migrated, and the start failed.
	test.each(["settings", "projects", "schema_versions"])("names the missing table %s", async (table) => {
		await migrate();
		await server.execute(`ALTER TABLE posthorn.${table} RENAME TO moved`, url);
		await expectFault(await doctor(settings), "Schema", new RegExp(`^Tables are missing: posthorn\\.${table}\\. If`));
		await server.execute(`ALTER TABLE posthorn.moved RENAME TO ${table}`, url);
		expectHealthy(await doctor(settings));
	});

	test("reports row-level security that hides rows", async () => {
		await server.execute("CREATE SCHEMA posthorn AUTHORIZATION shop", url);
		const shop = at(url.replace("test@", "shop:right@"));
		await migrate(shop);
		const force = (which: string) =>
			server.execute(`ALTER TABLE posthorn.webhooks ${which} FORCE ROW LEVEL SECURITY`, url);
		await server.execute("ALTER TABLE posthorn.webhooks ENABLE ROW LEVEL SECURITY", url);
		expectHealthy(await doctor(shop));
		await force("");
		await expectFault(
			await doctor(shop),
			"Schema",
			/^Row-level security hides rows .* posthorn\.webhooks: ALTER TABLE/,
		);
		await force("NO");
		expectHealthy(await doctor(shop));
	});

	// Nothing said why nodes could not commit.
	test("reports commits that wait for a standby that is gone", async () => {
		await migrate();
		const nameStandby = async (name: string) => {
			await server.execute(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
			await server.execute("SELECT pg_reload_conf()");
			await until("the setting to be read", async () => {
				const [row] = await server.execute("SHOW synchronous_standby_names");
				return row!.synchronous_standby_names === name;
			});
		};
		await nameStandby("gone");
		const waiting = server.execute("CREATE TABLE public.waiting ()", url);
		const report = await until("the commit to have waited", async () => {
			const found = await doctor(settings);
			return found.lines.Durability!.state !== "ok" && found;
		});
		expect(report).toMatchObject({ code: 0, lines: { Durability: { state: "warning" } } });
		expect(report.lines.Durability!.text).toMatch(
			/^1 commit waits for a synchronous standby .* synchronous_standby_names/,
		);
		await nameStandby("");
		await waiting;
		expectHealthy(await doctor(settings));
	});

	test("reports a wrong password without showing it", async () => {
		const [place] = await server.execute("SHOW hba_file");
		writeFileSync(String(place!.hba_file), "host all shop all scram-sha-256\nhost all all all trust\n");
		await server.execute("SELECT pg_reload_conf()");
		const right = url.replace("test@", "shop:right@");
		// The server reloads its rules some time after the request.
		const wrong = await until("the rules to be reloaded", async () => {
			const report = await doctor(at(right.replace(":right@", ":wrong@")));
			return report.code !== 0 && report;
		});
		await expectFault(wrong, "Database", /password authentication failed for user "shop".*: check the database URL/);
		expect(JSON.stringify(wrong)).not.toContain(":wrong@");
		await server.execute(`ALTER DATABASE ${nameOf(url)} OWNER TO shop`);
		expectHealthy(await doctor(at(right)));
		await expectFault(await doctor(at(right.replace(":right@", "@"))), "Database", /requires a password/);
	});

	test("reports a user that can't create the schema or read other users' tables", async () => {
		const other = url.replace("test@", "shop:right@");
		// It didn't say how to make a user the owner of a schema that doesn't exist yet.
		await expectFault(await doctor(at(other)), "Schema", /the owner of .*: CREATE SCHEMA posthorn AUTHORIZATION shop$/);
		await migrate();
		await expectFault(
			await doctor(at(other)),
			"Database",
			/permission denied for schema posthorn.*its user's permissions/,
		);
	});

	// It called a schema that an administrator had created for the service's user a fault, though the service started.
	test("a schema of another role is fine if this user may create tables in it, and owns the existing ones", async () => {
		const shop = at(url.replace("test@", "shop:right@"));
		await server.execute("CREATE SCHEMA posthorn; GRANT USAGE ON SCHEMA posthorn TO shop", url);
		await expectFault(await doctor(shop), "Schema", /may not run: make it the owner of .* and its tables/);
		await server.execute("GRANT CREATE ON SCHEMA posthorn TO shop", url);
		expectHealthy(await doctor(shop));
		expect(await migrate(shop)).toMatchObject({ code: 0 });
		const older =
			"DELETE FROM posthorn.schema_versions WHERE version = (SELECT max(version) FROM posthorn.schema_versions)";
		await server.execute(older, url);
		expectHealthy(await doctor(shop));
		// A migration changes tables, which the owner of the schema may not do.
		await server.execute("CREATE ROLE clerk LOGIN PASSWORD 'right'; ALTER SCHEMA posthorn OWNER TO clerk", url);
		await server.execute("GRANT SELECT ON ALL TABLES IN SCHEMA posthorn TO clerk", url);
		const clerk = at(url.replace("test@", "clerk:right@"));
		await expectFault(await doctor(clerk), "Schema", /may not run: make it the owner of .* and its tables/);
	});

	// The doctor found nothing. The node ran until it needed the table of a new day, and then settled nothing.
	test("reports a user who has every right to the tables, such as after a restore, but doesn't own them", async () => {
		await migrate();
		await server.execute(
			`GRANT ALL ON SCHEMA posthorn TO shop; GRANT ALL ON ALL TABLES IN SCHEMA posthorn TO shop;
			GRANT ALL ON ALL SEQUENCES IN SCHEMA posthorn TO shop; GRANT ALL ON ALL ROUTINES IN SCHEMA posthorn TO shop`,
			url,
		);
		const shop = at(url.replace("test@", "shop:right@"));
		await expectFault(await doctor(shop), "Schema", /may not create and drop .*: make it the owner of/);
		const guide = readFileSync(new URL("../../../docs/operations/backup.md", import.meta.url), "utf8");
		const [, statements] = /```sql\n(DO .*?)```/s.exec(guide)!;
		await server.execute(statements!.replaceAll("TO posthorn", "TO shop"), url);
		const others = `
			SELECT relname FROM pg_class WHERE relnamespace = 'posthorn'::regnamespace AND relowner <> 'shop'::regrole
			UNION ALL
			SELECT proname FROM pg_proc WHERE pronamespace = 'posthorn'::regnamespace AND proowner <> 'shop'::regrole`;
		expect(await server.execute(others, url)).toEqual([]);
		expectHealthy(await doctor(shop));
		const node = await Posthorn.start({ settings: { ...shop, POSTHORN_PORT: String(await unusedPort()) } });
		await node.stopWith(0);
	});

	// Attempts in them were never deleted, and nothing said so.
	test("names partitions of the delivery log that retention leaves alone", async () => {
		await migrate();
		await server.execute(
			`CREATE SCHEMA kept; CREATE TABLE kept.others (LIKE posthorn.attempts INCLUDING ALL);
			ALTER TABLE posthorn.attempts ATTACH PARTITION kept.others DEFAULT`,
			url,
		);
		expectWarning(await doctor(settings), "Delivery log", /never deletes .*: kept\.others\. Delete .*, or detach them/);
		await server.execute("ALTER TABLE posthorn.attempts DETACH PARTITION kept.others", url);
		expectHealthy(await doctor(settings));
	});

	// It mistook each day for a foreign partition and advised detaching it, after which that day can't be logged.
	test("passes where backslashes in strings escape characters", async () => {
		await migrate();
		await server.execute(
			`CREATE TABLE posthorn.attempts_20260102 (LIKE posthorn.attempts INCLUDING ALL);
			ALTER TABLE posthorn.attempts ATTACH PARTITION posthorn.attempts_20260102 FOR VALUES FROM ('0') TO ('1');
			ALTER DATABASE ${nameOf(url)} SET standard_conforming_strings = off`,
			url,
		);
		expectHealthy(await doctor(settings));
	});

	test("rejects a newer schema version, in migrate too", async () => {
		await migrate();
		await server.execute("INSERT INTO posthorn.schema_versions (version) VALUES (999)", url);
		await expectFault(
			await doctor(settings),
			"Schema",
			/newer version \(schema 999; this version supports \d+\): start that version, or restore/,
		);
		const refused = { code: 1, out: "", err: expect.stringMatching(/^.*newer version.*schema 999.*\n$/) };
		expect(await migrate()).toMatchObject(refused);
	});

	test("reports that this user doesn't wait for commits, but the service does", async () => {
		await server.execute(`ALTER DATABASE ${nameOf(url)} SET synchronous_commit = off`);
		const { lines } = await doctor(settings);
		const text = expect.stringMatching(/synchronous_commit is off.*commits with on/);
		expect(lines.Durability).toMatchObject({ state: "ok", text });
	});

	test("warns about a server that doesn't wait for its disk", async () => {
		const careless = await PostgresServer.start({ own: true });
		try {
			const at = async (value: string) => {
				const database = await careless.createDatabase();
				await careless.execute(`ALTER DATABASE ${nameOf(database)} SET synchronous_commit = ${value}`);
				return doctor({ ...settings, POSTHORN_DATABASE_URL: database });
			};
			for (const value of ["on", "off"]) expectWarning(await at(value), "Durability", /fsync is off/);
		} finally {
			await careless.stop();
		}
	});

	test("reports a read-only server", async () => {
		await server.execute(`ALTER DATABASE ${nameOf(url)} SET default_transaction_read_only = on`);
		await expectFault(
			await doctor(settings),
			"Database",
			/is read-only: default_transaction_read_only is on .* turn it off/,
		);
	});

	test("warns about a clock that is an hour ahead, and says by how much", async () => {
		const report = await doctor(settings, newFolder(), { node: ["--import", CLOCK_AHEAD] });
		// The measurement subtracts half of the round trip, even if the two ways differ.
		expectWarning(report, "Clock", /3[56]\d\d\.\d s (behind|ahead of) the database's\. .* Synchronize both with NTP/);
	});

	test("exits with 2 without a seal key, and says what to set", async () => {
		const { code, err } = await doctor({ POSTHORN_DATABASE_URL: url });
		expect(code).toBe(2);
		expect(err).toBe(
			"POSTHORN_SEAL_KEY is not set; with PostgreSQL it is required, and must be the same on every node; make one with: openssl rand -base64 32.\n",
		);
	});

	test.runIf(pgbouncer)(
		"behind pgbouncer: sessions are fine, transactions are a fault that says what to do",
		async () => {
			const session = await Pgbouncer.start(pgbouncer!, url, { pool_mode: "session" });
			const report = await doctor(at(session.url));
			await session.stop();
			expectHealthy(report);
			expect(report.lines.Pool!.text).toMatch(/keeps sessions .*: allow it 20 connections per node/);

			const transaction = await Pgbouncer.start(pgbouncer!, url, { pool_mode: "transaction" });
			const refused = await doctor(at(transaction.url));
			await expectFault(
				refused,
				"Database",
				/pool_mode=transaction.*point POSTHORN_DATABASE_URL at PostgreSQL itself, or at a/,
			);
			await transaction.stop();
			expect(await schemas()).toEqual([]);
		},
	);

	// The sessions of others weren't counted, nor those that are kept for superusers.
	test("warns about too few connections, under any limit, and says so if none is left", async () => {
		const small = await PostgresServer.start({ own: true, fsync: true, settings: { max_connections: "11" } });
		const others: Client[] = [];
		const connect = async (connectionString: string): Promise<boolean> => {
			const client = new Client({ connectionString });
			client.on("error", () => undefined);
			const isOpen = await client.connect().then(
				() => true,
				() => false,
			);
			if (isOpen) others.push(client);
			return isOpen;
		};
		// A server ends a connection some time after its client has closed it.
		const onlyOthersAreOpen = () =>
			until("earlier connections to end", async () => {
				const sessions = "SELECT FROM pg_stat_activity WHERE usesysid IS NOT NULL AND datid IS NOT NULL";
				return (await others[0]!.query(sessions)).rowCount === others.length;
			});
		try {
			expectWarning(await doctor(at(small.url)), "Connections", /^\d+ of 11 are left; .* 20: raise max_connections/);
			await small.execute("CREATE ROLE clerk LOGIN; GRANT CREATE ON DATABASE postgres TO clerk");
			const clerk = small.url.replace("test@", "clerk@");
			for (let n = 0; n < 3; n++) await connect(small.url);
			await onlyOthersAreOpen();
			// The doctor opens two in turn, and the first may not have ended.
			expectWarning(await doctor(at(clerk)), "Connections", /^[34] of 8 are left; .* 20: raise max_connections/);
			await small.execute("ALTER ROLE clerk CONNECTION LIMIT 3");
			await onlyOthersAreOpen();
			await expectFault(
				await doctor(at(clerk)),
				"Connections",
				/^3 at most; a node needs 8, .*: raise the CONNECTION LIMIT of this user/,
			);
			await small.execute("ALTER DATABASE postgres CONNECTION LIMIT 7; ALTER ROLE clerk CONNECTION LIMIT -1");
			await onlyOthersAreOpen();
			await expectFault(
				await doctor(at(clerk)),
				"Connections",
				/^7 at most; a node needs 8, .*: raise the database's CONNECTION LIMIT/,
			);
			await small.execute("ALTER DATABASE postgres CONNECTION LIMIT -1");
			await onlyOthersAreOpen();
			while (await connect(clerk));
			await expectFault(
				await doctor(at(clerk)),
				"Database",
				/reserved.*: close other connections, or raise max_connections/,
			);
		} finally {
			await Promise.all(others.map((client) => client.end()));
			await small.stop();
		}
	});
});
