import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Posthorn, settingsOfNodes, until, unusedPort } from "@posthorn/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { PostgresServer } from "../../testkit/src/postgres/postgres.ts";
import { User } from "./client.fixture.ts";

const ACCOUNT = { email: "ada@example.com", name: "Ada", password: "a sound of horns" };

let operator: User;
let port: string;
beforeEach(async () => {
	operator = new User();
	port = String(await unusedPort());
});
afterEach(() => operator.close());

const serve = (settings: Readonly<Record<string, string>> = {}) =>
	Posthorn.start({ settings: { POSTHORN_PORT: port, ...settings }, cwd: operator.home });

const setUp = async (link: string): Promise<number> => {
	const { origin, hash } = new URL(link);
	expect(origin).toBe(`http://127.0.0.1:${port}`);
	const response = await fetch(`${origin}/v1/setup`, {
		method: "POST",
		headers: { "Content-Type": "application/json" },
		body: JSON.stringify({ ...ACCOUNT, token: hash.slice(1) }),
	});
	return response.status;
};

// Anyone who could read the log could become the operator.
test("on SQLite, the link is in a file that only its user reads, not in the log", async () => {
	const file = join(operator.home, "data/posthorn.setuplink");
	expect(await operator.run(["setup-link"])).toMatchObject({
		code: 1,
		out: "",
		err: expect.stringMatching(
			/^There is no setup link in data\/posthorn\.setuplink\.[\s\S]* or restart the service to get a new link\.$/m,
		),
	});
	const service = await serve({ POSTHORN_HOST: "0.0.0.0" });
	await service.hasPrinted(/Set up +in data\/posthorn\.setuplink/);
	expect(service.output).not.toContain("/setup#");
	expect(statSync(file).mode & 0o777).toBe(0o600);
	const { out } = await operator.run(["setup-link"], { env: { POSTHORN_PORT: port } });
	expect(out).toBe(readFileSync(file, "utf8"));
	expect(JSON.parse((await operator.run(["setup-link", "--json"])).out)).toEqual({ setup_url: out.trim() });
	expect(await setUp(out.trim())).toBe(201);
	expect(existsSync(file)).toBe(false);
	await service.stopWith(0);
});

/** Makes the service wait with the file of the setup link until a file named `go` is in its folder. */
const WAITS = `
	import fs from "node:fs/promises";
	import { existsSync } from "node:fs";
	import { syncBuiltinESMExports } from "node:module";
	const { rm } = fs;
	fs.rm = async (path, options) => {
		while (String(path).endsWith("posthorn.setuplink") && !existsSync("go")) await new Promise(setImmediate);
		return rm(path, options);
	};
	syncBuiltinESMExports();
`;

// A script that waits for readiness reads the link next.
test("on SQLite, the service isn't ready before the link is in its file", async () => {
	const starting = Posthorn.start({
		settings: { POSTHORN_PORT: port },
		cwd: operator.home,
		nodeOptions: ["--import", `data:text/javascript,${encodeURIComponent(WAITS)}`],
	});
	const readiness = async (): Promise<number | null> => {
		try {
			return (await fetch(`http://127.0.0.1:${port}/readyz`)).status;
		} catch {
			return null; // not listening yet
		}
	};
	await until("the service to listen", async () => (await readiness()) !== null);
	expect(await readiness()).toBe(503);
	writeFileSync(join(operator.home, "go"), "");
	const service = await starting;
	expect(await readiness()).toBe(200);
	expect(existsSync(join(operator.home, "data/posthorn.setuplink"))).toBe(true);
	await service.stopWith(0);
});

test("on PostgreSQL, the command creates a link, until the account exists", async () => {
	const server = await PostgresServer.start();
	const url = await server.createDatabase();
	try {
		const { POSTHORN_EGRESS_CA_FILE: _, POSTHORN_OPERATOR_KEY: __, ...settings } = settingsOfNodes("");
		const node = { ...settings, POSTHORN_DATABASE_URL: url, POSTHORN_PORT: port };
		const service = await serve(node);
		await service.hasPrinted(/Set up +posthorn setup-link {2}\(run it with this node's settings to print the link/);
		expect(service.output).not.toContain("/setup#");
		const { out } = await operator.run(["setup-link"], { env: node });
		expect(await setUp(out.trim())).toBe(201);
		expect(await operator.run(["setup-link"], { env: node })).toMatchObject({
			code: 1,
			out: "",
			err: expect.stringMatching(/exists already[\s\S]*sign-in-links with the operator.s key/),
		});
		await service.stopWith(0);
		// It migrated the database under the nodes of an earlier version.
		const versions = "SELECT max(version) FROM posthorn.schema_versions";
		const [last] = await server.execute(versions, url);
		await server.execute(`DELETE FROM posthorn.schema_versions WHERE version = (${versions})`, url);
		for (const command of [["setup-link"], ["operator-key", "--new", "--yes"]]) {
			const { code, out, err } = await operator.run(command, { env: node });
			expect([code, out, err]).toEqual([
				1,
				"",
				expect.stringMatching(/^The database was last migrated by an earlier version of Posthorn/),
			]);
		}
		expect(await server.execute(versions, url)).not.toEqual([last]);
	} finally {
		await server.dropDatabase(url);
		await server.stop();
	}
});
