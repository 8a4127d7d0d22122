import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, watch } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../until.ts";
import { PostgresServer } from "./postgres.ts";

describe("PostgresServer", () => {
	let server: PostgresServer;
	beforeAll(async () => {
		server = await PostgresServer.start({ own: true, fsync: true, settings: { work_mem: "5MB" } });
	});
	afterAll(() => server.stop());

	test("databases are empty, separate, and no longer exist after they are dropped", async () => {
		const [a, b] = [await server.createDatabase(), await server.createDatabase()];
		await server.execute("CREATE TABLE here (n integer)", a);
		await expect(server.execute("SELECT * FROM here", b)).rejects.toThrow("does not exist");
		await server.dropDatabase(a);
		await expect(server.execute("SELECT 1", a)).rejects.toThrow("does not exist");
		await server.dropDatabase(b);
		expect(await server.execute("SHOW work_mem")).toEqual([{ work_mem: "5MB" }]);
	});

	test("commits survive a crash and a restart", async () => {
		const url = await server.createDatabase();
		await server.execute("CREATE TABLE kept AS SELECT 7 AS n", url);
		await server.kill();
		await expect(server.execute("SELECT 1", url)).rejects.toThrow("ECONNREFUSED");
		await server.startAgain();
		await server.restart();
		expect(await server.execute("SELECT n FROM kept", url)).toEqual([{ n: 7 }]);
	});

	test("a standby has all of its primary's data, is read-only, and can be promoted", async () => {
		const url = await server.createDatabase();
		const standby = await server.standby();
		try {
			await server.execute("ALTER SYSTEM SET synchronous_standby_names = '*'");
			await server.execute("SELECT pg_reload_conf()");
			await until("the setting to be read", async () => {
				const [row] = await server.execute("SHOW synchronous_standby_names");
				return row!.synchronous_standby_names === "*";
			});
			await server.execute("CREATE TABLE there AS SELECT 7 AS n", url);
			const copy = url.replace(new URL(url).host, new URL(standby.url).host);
			await expect(standby.execute("CREATE TABLE here (n integer)", copy)).rejects.toThrow("read-only");
			await server.kill();
			await standby.promote();
			expect(await standby.execute("INSERT INTO there VALUES (8) RETURNING n", copy)).toEqual([{ n: 8 }]);
			await server.startAgain();
			await server.execute("ALTER SYSTEM RESET synchronous_standby_names");
			await server.execute("SELECT pg_reload_conf()");
		} finally {
			await standby.stop();
		}
	});

	test.runIf(process.platform === "linux")("tables only grow up to the file limit, until it is lifted", async () => {
		const url = await server.createDatabase();
		const grow = "INSERT INTO large SELECT repeat(md5(random()::text), 60) FROM generate_series(1, 1000)";
		await server.execute("CREATE TABLE large (text text)", url);
		const limit = 16 * 1024 * 1024;
		await server.limitFiles(limit);
		for (let size = 0; size < limit; ) {
			const [row] = await server.execute("SELECT pg_relation_size('large')::float8 AS size", url);
			size = row!.size as number;
			const grown = await server.execute(grow, url).catch((error: Error) => error);
			if (!(grown instanceof Error)) continue;
			expect(grown.message).toMatch(/could not extend file .*File too large/);
			break;
		}
		await expect(server.execute(grow, url)).rejects.toThrow("could not extend file");
		await server.limitFiles(null);
		await server.execute(grow, url);
	});

	test("a server exits with the process that started it, even if that one was killed", async () => {
		const script = `
			import { PostgresServer } from ${JSON.stringify(new URL("./postgres.ts", import.meta.url).href)};
			const server = await PostgresServer.start({ own: true });
			const [row] = await server.execute("SELECT current_setting('data_directory') AS data");
			process.stdout.write(row.data);
			process.kill(process.pid, "SIGKILL");`;
		const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
			stdio: ["ignore", "pipe", "inherit"],
		});
		let data = "";
		child.stdout.on("data", (text: Buffer) => {
			data += text.toString();
		});
		await once(child, "close");
		const folder = join(data, "..");
		expect(basename(folder)).toMatch(/^posthorn-pg-/);
		await new Promise<void>((resolve) => {
			const look = () => {
				if (existsSync(folder)) return;
				watcher.close();
				resolve();
			};
			const watcher = watch(tmpdir(), look);
			look();
		});
	});
});
