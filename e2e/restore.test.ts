import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Posthorn, until, unusedPort } from "@posthorn/testkit";
import { PostgresServer } from "@posthorn/testkit/postgres";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { COMMAND, doctor, run } from "../packages/cli/test/doctor.fixture.ts";
import { purchase, Shop } from "./shop.ts";

let server: PostgresServer;
beforeAll(async () => {
	server = await PostgresServer.start();
});
afterAll(() => server.stop());

const onPostgres = async () => ({
	POSTHORN_DATABASE_URL: await server.createDatabase(),
	POSTHORN_SEAL_KEY: randomBytes(32).toString("base64"),
});

/** Runs the command line as the operator of this shop. */
const posthorn = (shop: Shop, ...args: string[]) => run([COMMAND, ...args], shop.settings, shop.folder);

/** The nodes that, by the database, may still run. */
const LIVING = `
	SELECT FROM posthorn.nodes WHERE seen_at >= posthorn.now_ms() - 10000
	UNION ALL SELECT FROM posthorn.leases WHERE until > posthorn.now_ms()`;
/** Interval between polls of the database, milliseconds. */
const ASK_MS = 100;

/** Puts the state of `backup` in place of what the stopped service has, as the manual says. */
interface Engine {
	/** @returns a name for the backup */
	readonly backUp: (shop: Shop) => Promise<string>;
	readonly restore: (shop: Shop, backup: string) => Promise<void>;
}

const SQLITE: Engine = {
	async backUp(shop) {
		const file = join(shop.folder, "backup.db");
		expect(await posthorn(shop, "backup", file)).toMatchObject({ code: 0 });
		return file;
	},
	async restore(shop, backup) {
		const { code, out } = await posthorn(shop, "restore", backup, "--yes", "--json");
		expect(code).toBe(0);
		const { replaced, ...rest } = JSON.parse(out);
		expect(rest).toMatchObject({ database: join(shop.folder, "posthorn.db"), quarantine: true });
		expect(Date.parse(rest.backup_at)).toBeLessThan(Date.now());
		expect(existsSync(replaced)).toBe(true);
	},
};

const POSTGRES: Engine = {
	async backUp({ settings }) {
		const copy = `copy_${randomBytes(8).toString("hex")}`;
		const url = new URL(settings.POSTHORN_DATABASE_URL!);
		await server.execute(`CREATE DATABASE ${copy} TEMPLATE ${url.pathname.slice(1)}`);
		return copy;
	},
	async restore(shop, backup) {
		const url = new URL(shop.settings.POSTHORN_DATABASE_URL!);
		await server.dropDatabase(url.href);
		url.pathname = `/${backup}`;
		shop.settings.POSTHORN_DATABASE_URL = url.href;
		// The killed node seems to be alive for ten seconds; a query asks for a hundredth of what the command would take.
		await until("the killed node to be given up", async () => {
			if ((await server.execute(LIVING, url.href)).length === 0) return true;
			await new Promise((resolve) => setTimeout(resolve, ASK_MS));
			return false;
		});
		expect(await posthorn(shop, "restore", "--json")).toMatchObject({ code: 0 });
	},
};

describe.each([
	["SQLite", async () => ({}), SQLITE],
	["PostgreSQL", onPostgres, POSTGRES],
] as const)("on %s", (name, settings, engine) => {
	test("a restored database sends nothing until the operator releases it, then continues in order", async () => {
		await using shop = await Shop.open(await settings());
		const receiver = await shop.receiver();
		const at = (path: string) =>
			receiver.requests
				.filter((request) => request.path === path)
				.map(({ body }) => (body as { data: { n: number } }).data.n);
		const live = await shop.webhook(receiver.url("/live"));
		const late = await shop.webhook(receiver.url("/late"));
		receiver.setSecret(undefined);
		const publish = (n: number) => shop.post(shop.path("/events"), purchase(n));
		await publish(1);
		await until("the first event to arrive", async () => at("/live").length === 1 && at("/late").length === 1);
		const [first] = await shop.all(shop.path("/events"));
		await until("its attempts to be logged", async () => (await shop.all(shop.path("/attempts"))).length === 2);
		receiver.respondWith(() => "hang");
		await publish(2);
		await publish(3);
		await until("the second event to be sent", async () => at("/live").length === 2 && at("/late").length === 2);
		await shop.service.kill();
		const backup = await engine.backUp(shop);

		receiver.respondWith(() => ({}));
		await shop.start();
		await publish(4);
		await until("everything to arrive", async () => at("/live").includes(4) && at("/late").includes(4));
		// No one may replace the database under a running service.
		const [busy] = [await posthorn(shop, "restore", ...(name === "SQLite" ? [backup] : []), "--yes")];
		expect(busy).toMatchObject({ code: 1, err: expect.stringMatching(/in use by process|uses? this database/) });
		await shop.service.stop();
		const before = receiver.received;
		await engine.restore(shop, backup);

		await shop.start({ settings: { POSTHORN_LOG_LEVEL: "info" } });
		expect(shop.service.output).toMatch(/Quarantine +nothing is sent/);
		expect(shop.service.output).toContain('"quarantine":true');
		expect((await publish(5)).status).toBe(202);
		expect((await shop.post(shop.path(`/webhooks/${live.id}/test`), { type: "purchase.completed" })).status).toBe(409);
		const again = await shop.post(shop.path(`/webhooks/${live.id}/deliveries/${first.id}/replay`), {});
		expect(again.status).toBe(202);
		expect((await shop.get("/readyz")).body).toMatchObject({
			status: "ok",
			notice: expect.stringMatching(/quarantine/),
		});
		expect(await (await fetch(`${shop.service.url}/metrics`)).text()).toContain("\nposthorn_quarantine 1\n");
		expect((await doctor(shop.settings, shop.folder)).lines.Quarantine).toMatchObject({ state: "warning" });
		await shop.service.kill();

		// Neither a restart nor another node ends it.
		await shop.start();
		const other =
			name === "SQLite"
				? null
				: await Posthorn.start({ settings: { ...shop.settings, POSTHORN_PORT: String(await unusedPort()) } });
		const shown = await posthorn(shop, "quarantine", "--json");
		expect(JSON.parse(shown.out)).toMatchObject({
			active: true,
			webhooks: [
				{ id: live.id, url: receiver.url("/live"), status: "active", backlog: { events: 3 }, waiting: { count: 1 } },
				{ id: late.id, backlog: { events: 3, oldest_at: expect.any(String) }, waiting: { count: 0 } },
			],
		});
		const forPeople = await posthorn(shop, "quarantine");
		expect(forPeople.out).toMatch(/restored from a backup of .*\n.*PROJECT +WEBHOOK/);
		expect(forPeople.out).toContain("6 first attempts and 1 retry or replay wait for 2 webhooks.");
		const unsure = await posthorn(shop, "release");
		expect(unsure).toMatchObject({
			code: 2,
			err: expect.stringMatching(/Release http:\/\/127\.0\.0\.1:\d+\?[\s\S]*--yes/),
		});
		expect(receiver.received).toBe(before);

		const released = await posthorn(shop, "release", "--skip", late.id, "--yes", "--json");
		expect(JSON.parse(released.out)).toMatchObject({ active: false, released: true, skipped: [late.id] });
		await publish(6);
		const atRestore = receiver.requests.slice(0, before);
		const since = (path: string) => at(path).slice(atRestore.filter((request) => request.path === path).length);
		await until("everything to arrive", async () => since("/live").length === 5 && since("/late").length === 1);
		expect(since("/live").filter((n) => n !== 1)).toEqual([2, 3, 5, 6]);
		expect(since("/live")).toContain(1);
		expect(since("/late")).toEqual([6]);
		expect(await (await fetch(`${shop.service.url}/metrics`)).text()).toContain("\nposthorn_quarantine 0\n");
		expect((await posthorn(shop, "release", "--yes")).err).toContain("nothing to release");
		await other?.stopWith(0);
		await shop.service.stopWith(0);
		await shop.start();
		expect((await shop.get("/v1/quarantine")).body).toMatchObject({ active: false, since: null, detail: null });
	});
});

test("restore refuses what isn't a sound backup of this service, and changes nothing", async () => {
	await using shop = await Shop.open();
	const file = join(shop.folder, "backup.db");
	expect((await posthorn(shop, "backup", file)).code).toBe(0);
	await shop.service.stopWith(0);
	const names = readdirSync(shop.folder).toSorted();
	const refusals: [string[], number, RegExp][] = [
		[["restore"], 2, /Which backup/],
		[["restore", "none.db", "--yes"], 2, /no backup at none\.db/],
		[["restore", file], 2, /Replace the database[\s\S]*--yes/],
		[["restore", join(shop.folder, "posthorn.db"), "--yes"], 1, /is the database itself/],
	];
	writeFileSync(join(shop.folder, "text.db"), "not a database, but long enough to look like a file of some kind");
	writeFileSync(join(shop.folder, "empty.db"), "");
	// They advised to restore it from a backup, and to set the database to back up.
	refusals.push(
		[
			["restore", join(shop.folder, "text.db"), "--yes"],
			1,
			/text\.db is not a SQLite database: name a file that posthorn backup wrote\./,
		],
		[
			["restore", join(shop.folder, "empty.db"), "--yes"],
			1,
			/empty\.db is not a Posthorn database: name a backup of one\./,
		],
	);
	for (const [args, code, err] of refusals)
		expect(await posthorn(shop, ...args), args.join(" ")).toMatchObject({
			code,
			out: "",
			err: expect.stringMatching(err),
		});
	const key = join(shop.folder, "posthorn.sealkey");
	renameSync(key, `${key}.away`);
	const keyless = await posthorn(shop, "restore", file, "--yes");
	expect(keyless).toMatchObject({ code: 2, err: expect.stringMatching(/seal key .* is missing/) });
	writeFileSync(key, `${randomBytes(32).toString("base64")}\n`, { mode: 0o600 });
	const wrong = await posthorn(shop, "restore", file, "--yes");
	expect(wrong).toMatchObject({
		code: 2,
		err: expect.stringMatching(/not the one that this database.*add the old key after/),
	});
	renameSync(`${key}.away`, key);
	expect(
		readdirSync(shop.folder)
			.filter((name) => name !== "text.db" && name !== "empty.db")
			.toSorted(),
	).toEqual(names);
	await shop.start();
	expect((await shop.get("/v1/quarantine")).body.active).toBe(false);
});
