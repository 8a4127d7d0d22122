import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Posthorn, settingsOfNodes, unusedPort } from "@posthorn/testkit";
import { PATIENCE_MS } from "@posthorn/testkit/until";
import { afterEach, beforeEach, expect, test } from "vitest";
import { PostgresServer } from "../../testkit/src/postgres/postgres.ts";
import { User } from "./client.fixture.ts";

const KEY = /^pho_[\w-]{43}\n$/;
const NEW = ["operator-key", "--new"] as const;
/** Nodes notice a new key some seconds later, and refuse an address with more than 300 wrong keys a minute. */
const POLL = { timeout: PATIENCE_MS, interval: 250 };

let operator: User;
let port: string;
beforeEach(async () => {
	operator = new User();
	port = String(await unusedPort());
});
afterEach(() => operator.close());

const serve = (settings: Readonly<Record<string, string>> = {}) =>
	Posthorn.start({ settings: { POSTHORN_PORT: port, ...settings }, cwd: operator.home });

const status = async (key: string): Promise<number> =>
	(await fetch(`http://127.0.0.1:${port}/v1/projects`, { headers: { Authorization: `Bearer ${key.trim()}` } })).status;

test("on SQLite, it replaces the key while the service is stopped, after a question", async () => {
	const file = join(operator.home, "data/posthorn.operatorkey");
	let service = await serve();
	await service.hasPrinted(/Operator key +in /);
	const old = readFileSync(file, "utf8");
	const running = await operator.run([...NEW, "--yes"]);
	expect(running).toMatchObject({ code: 1, out: "" });
	expect(running.err).toMatch(
		new RegExp(`in use by process ${service.process.pid} [\\s\\S]*Stop the service, run this`),
	);
	expect(await status(old)).toBe(200);
	await service.stopWith(0);

	// Without a terminal to ask at.
	const unsure = await operator.run(NEW);
	expect(unsure).toMatchObject({ code: 2, out: "", err: expect.stringMatching(/stop working[\s\S]*--yes/) });
	expect(readFileSync(file, "utf8")).toBe(old);

	const { code, out, err } = await operator.run([...NEW, "--yes"]);
	expect([code, out]).toEqual([0, expect.stringMatching(KEY)]);
	expect(err).toContain("The previous one no longer works.");
	expect(err).toContain("Deleted data/posthorn.operatorkey");
	expect(existsSync(file)).toBe(false);
	service = await serve();
	expect([await status(old), await status(out)]).toEqual([401, 200]);
	await service.stopWith(0);
	rmSync(join(operator.home, "data"), { recursive: true });
});

// The question was written to the file.
test.skipIf(!existsSync("/usr/bin/script"))("at a terminal it asks, even if the key goes to a file", async () => {
	await (await serve()).stopWith(0);
	const answered = async (answer: string): Promise<string> => {
		const { shown } = await operator.runAtTerminal("posthorn operator-key --new > key.txt", "(y/N)", answer);
		expect(shown).toContain("The current one will stop working.");
		return readFileSync(join(operator.home, "key.txt"), "utf8");
	};
	expect(await answered("\r")).toBe("");
	expect(await answered("y\r")).toMatch(KEY);
});

test("it changes nothing without a database, without --new, or with a configured key", async () => {
	const absent = await operator.run([...NEW, "--yes"]);
	expect(absent).toMatchObject({ code: 2, out: "", err: expect.stringContaining("data/posthorn.db doesn't exist") });
	expect(existsSync(join(operator.home, "data"))).toBe(false);
	expect(await operator.run(["operator-key"])).toMatchObject({ code: 2, err: expect.stringContaining("--new") });
	const env = { POSTHORN_OPERATOR_KEY: "a-configured-key-of-32-characters" };
	const configured = await operator.run([...NEW, "--yes"], { env });
	expect(configured).toMatchObject({
		code: 2,
		err: expect.stringMatching(/^POSTHORN_OPERATOR_KEY .* change it there/),
	});
});

test("on PostgreSQL, running nodes use the new key", async () => {
	const server = await PostgresServer.start();
	const database = await server.createDatabase();
	const { POSTHORN_SEAL_KEY } = settingsOfNodes("");
	const settings = { POSTHORN_SEAL_KEY, POSTHORN_DATABASE_URL: database };
	const service = await serve(settings);
	// There is no file that only this node could read, so none was created.
	await service.hasPrinted(/Operator key +none: .* posthorn operator-key --new/);
	// The first of a database replaces nothing, so there is no question.
	const first = await operator.run(NEW, { env: settings });
	expect([first.code, first.out]).toEqual([0, expect.stringMatching(KEY)]);
	await expect.poll(() => status(first.out), POLL).toBe(200);

	// The question ended, but its connections to the database kept the command waiting.
	if (existsSync("/usr/bin/script")) {
		const variables = Object.entries(settings).map(([name, value]) => `${name}='${value}'`);
		const script = `${variables.join(" ")} posthorn operator-key --new`;
		expect(await operator.runAtTerminal(script, "(y/N)", "\u0004")).toMatchObject({ code: 130 });
	}
	const second = await operator.run([...NEW, "--yes", "--json"], { env: settings });
	const { operator_key: key } = JSON.parse(second.out) as { operator_key: string };
	expect(`${key}\n`).toMatch(KEY);
	await expect.poll(() => status(key), POLL).toBe(200);
	expect(await status(first.out)).toBe(401);
	await service.stopWith(0);
	await server.dropDatabase(database);
	await server.stop();
});
