import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Posthorn, unusedPort } from "@posthorn/testkit";
import { PostgresServer } from "@posthorn/testkit/postgres";
import { within } from "@posthorn/testkit/until";
import { afterAll, beforeAll, expect, test } from "vitest";
import { COMMAND, doctor, run } from "../packages/cli/test/doctor.fixture.ts";
import { SEAL_CHECK, Seal, sealCheck } from "../packages/server/src/base/seal.ts";
import { purchase, Shop } from "./shop.ts";

let server: PostgresServer;
beforeAll(async () => {
	server = await PostgresServer.start();
});
afterAll(() => server.stop());

const SEALED = /"sealed":1,.*all secrets are sealed with the first of the seal keys/;
const newKey = () => randomBytes(32).toString("base64");

/** A shop whose receiver checks each request with the secret of its only webhook. */
async function openShop(settings: Record<string, string> = {}) {
	const shop = await Shop.open({ POSTHORN_LOG_LEVEL: "info", ...settings });
	const receiver = await shop.receiver();
	await shop.webhook(receiver.url("/hooks"), { standard_webhooks: true });
	let published = 0;
	async function deliver(): Promise<void> {
		expect((await shop.post(shop.path("/events"), purchase(++published))).status).toBe(202);
		await receiver.count(published);
		expect(receiver.requests.map(({ verified }) => verified)).not.toContain(false);
	}
	await deliver();
	return { shop, deliver };
}

const sealOf = async ({ settings, folder }: Shop) => (await doctor(settings, folder)).lines["Seal key"];

test("a seal key in a file is replaced by one restart, and given up by another", async () => {
	const { shop: opened, deliver } = await openShop();
	await using shop = opened;
	const file = join(shop.folder, "posthorn.sealkey");
	const old = readFileSync(file, "utf8").trim();
	const next = newKey();
	const write = (...keys: string[]) => {
		writeFileSync(`${file}.new`, keys.map((key) => `${key}\n`).join(""), { mode: 0o600 });
		renameSync(`${file}.new`, file);
	};
	await shop.service.stopWith(0);
	write(next);
	await expect(shop.start()).rejects.toThrow("is not the one that this database's secrets are sealed with");

	write(next, old);
	expect(await sealOf(shop)).toMatchObject({ state: "ok", text: expect.stringContaining("keep the others") });
	await shop.start();
	await shop.service.hasPrinted(SEALED);
	await deliver();
	await shop.service.stopWith(0);

	write(next);
	expect(await sealOf(shop)).toMatchObject({ state: "ok", text: "Matches the database." });
	await shop.start();
	await deliver();
	await shop.service.stopWith(0);
	write(old);
	await expect(shop.start()).rejects.toThrow("is not the one that this database's secrets are sealed with");
});

test("nodes replace their seal key one after the other, while they deliver", async () => {
	const [old, next] = [newKey(), newKey()];
	const { shop: opened, deliver } = await openShop({
		POSTHORN_DATABASE_URL: await server.createDatabase(),
		POSTHORN_SEAL_KEY: old,
	});
	await using shop = opened;
	/** Starts a node, then stops the previous one, as a rolling restart does. */
	async function replaceNode(key: string): Promise<void> {
		const before = shop.service;
		shop.settings.POSTHORN_SEAL_KEY = key;
		shop.settings.POSTHORN_PORT = String(await unusedPort());
		shop.service = await Posthorn.start({ settings: shop.settings });
		await before.stopWith(0);
	}
	await replaceNode(`${old},${next}`);
	await deliver();
	const before = shop.service;
	await replaceNode(`${next},${old}`);
	await shop.service.hasPrinted(SEALED);
	expect(before.output).not.toMatch(/"level":"(?:warn|error)"/);
	await deliver();
	await replaceNode(next);
	await deliver();
	expect(await sealOf(shop)).toMatchObject({ state: "ok", text: "Matches the database." });
});

// The whole database was lost along with its key: no service could start on it.
test.each(["SQLite", "PostgreSQL"])(
	"on %s, a database outlives its seal key: webhooks get new secrets",
	async (name) => {
		const isSqlite = name === "SQLite";
		const { shop: opened, deliver } = await openShop(
			isSqlite ? {} : { POSTHORN_DATABASE_URL: await server.createDatabase(), POSTHORN_SEAL_KEY: newKey() },
		);
		await using shop = opened;
		const giveUp = (...more: string[]) => run([COMMAND, "seal-key", "--lost", ...more], shop.settings, shop.folder);
		const [webhook] = (await shop.get(shop.path("/webhooks"))).body.data;
		expect(await giveUp("--yes")).toMatchObject({ code: 1, err: expect.stringMatching(/in use by|A node uses/) });
		await shop.service.stopWith(0);
		const file = join(shop.folder, "posthorn.sealkey");
		expect(await giveUp()).toMatchObject({ code: 0, err: expect.stringContaining("Nothing to do") });

		if (isSqlite) rmSync(file);
		else shop.settings.POSTHORN_SEAL_KEY = newKey();
		await expect(shop.start()).rejects.toThrow("posthorn seal-key --help");
		expect(await giveUp()).toMatchObject({
			code: 2,
			err: expect.stringMatching(/This pauses 1 webhook \(\S+ of .+\), and[\s\S]*--yes/),
		});
		expect(existsSync(file)).toBe(false);
		const { code, out } = await giveUp("--yes", "--json");
		expect([code, JSON.parse(out)]).toEqual([
			0,
			{ paused: [{ project_id: shop.projectId, id: webhook.id, url: webhook.url }] },
		]);
		expect(await giveUp("--yes")).toMatchObject({ code: 0, err: expect.stringContaining("Nothing to do") });

		await shop.start();
		const path = shop.path(`/webhooks/${webhook.id}`);
		expect((await shop.get(path)).body).toMatchObject({ status: "paused", secret_state: "lost" });
		const audit = await shop.get(shop.path("/audit"));
		expect(audit.body.data.slice(0, 2)).toMatchObject(
			["webhook.secret_lost", "webhook.paused"].map((action) => ({ action, detail: { reason: "seal_key_lost" } })),
		);
		const { body } = await shop.post(`${path}/rotate-secret`, {});
		expect((await shop.get(path)).body).toMatchObject({ status: "paused", secret_state: "usable" });
		shop.receivers[0]!.setSecret(body.secret);
		expect((await shop.patch(path, { status: "active" })).status).toBe(200);
		await deliver();
		expect(await sealOf(shop)).toMatchObject({ state: "ok", text: "Matches the database." });
	},
);

// With the next key first, it made the start's check fit that one: a service that had only that started, although the
// other key's secrets were still to be sealed again.
test("giving up a key leaves those that other keys have sealed to a service with both", async () => {
	const { shop: opened, deliver } = await openShop();
	await using shop = opened;
	await shop.service.stopWith(0);
	const file = join(shop.folder, "posthorn.sealkey");
	const old = readFileSync(file, "utf8").trim();
	const [next, lost] = [newKey(), newKey()];
	const database = new DatabaseSync(join(shop.folder, "posthorn.db"));
	const check = sealCheck(new Seal([Buffer.from(lost, "base64")]));
	database.prepare("UPDATE settings SET value = ? WHERE name = ?").run(check, SEAL_CHECK);
	database.close();
	const giveUp = () => run([COMMAND, "seal-key", "--lost", "--yes"], shop.settings, shop.folder);

	writeFileSync(file, "");
	await expect(shop.start()).rejects.toThrow(/is damaged: .*posthorn seal-key --help/);
	writeFileSync(file, `${next}\n${old}\n`);
	expect(await giveUp()).toMatchObject({ code: 0, err: "No webhook needs a new secret. Start the service.\n" });
	writeFileSync(file, next);
	await expect(shop.start()).rejects.toThrow("is not the one that this database's secrets are sealed with");
	writeFileSync(file, `${next}\n${old}\n`);
	await shop.start();
	await shop.service.hasPrinted(SEALED);
	await deliver();
	await shop.service.stopWith(0);
	writeFileSync(file, next);
	await shop.start();
	await deliver();
});

// All webhooks were given up, although the key was in its file.
test("a key that only a setting hides isn't given up", async () => {
	const { shop: opened, deliver } = await openShop();
	await using shop = opened;
	await shop.service.stopWith(0);
	const settings = { ...shop.settings, POSTHORN_SEAL_KEY: newKey() };
	expect(await run([COMMAND, "seal-key", "--lost", "--yes"], settings, shop.folder)).toMatchObject({
		code: 2,
		err: expect.stringMatching(/posthorn\.sealkey has it, but POSTHORN_SEAL_KEY/),
	});
	await shop.start();
	await deliver();
});

test.skipIf(!existsSync("/usr/bin/script"))("a node that starts while the question waits keeps its key", async () => {
	const { shop: opened, deliver } = await openShop({
		POSTHORN_DATABASE_URL: await server.createDatabase(),
		POSTHORN_SEAL_KEY: newKey(),
	});
	await using shop = opened;
	await shop.service.stopWith(0);
	const { PATH } = process.env;
	const env = { PATH, ...shop.settings, POSTHORN_SEAL_KEY: newKey() };
	const command = `${process.execPath} ${COMMAND} seal-key --lost`;
	const terminal = spawn("script", ["-qec", command, "/dev/null"], { cwd: shop.folder, env });
	try {
		const ended = once(terminal, "close");
		let shown = "";
		const asks = new Promise<void>((resolve) => {
			terminal.stdout.setEncoding("utf8").on("data", (text: string) => {
				shown += text;
				if (shown.includes("(y/N)")) resolve();
			});
		});
		await within("the question", Promise.race([asks, ended]));
		await shop.start();
		terminal.stdin.write("y\r");
		expect([(await within("the command to end", ended))[0], shown]).toEqual([
			1,
			expect.stringContaining("A node uses"),
		]);
		await deliver();
	} finally {
		terminal.kill("SIGKILL");
	}
});

// It stopped the whole project until it was restarted, and the log only said that data could not be authenticated.
test("a secret that no key opens stops only its webhook, until it is rotated or given up", async () => {
	const { shop: opened, deliver } = await openShop();
	await using shop = opened;
	const [webhook] = (await shop.get(shop.path("/webhooks"))).body.data;
	await shop.service.stopWith(0);
	// As a node that lacked the next key could leave a new secret behind.
	const next = newKey();
	writeFileSync(join(shop.folder, "posthorn.sealkey"), next);
	const database = new DatabaseSync(join(shop.folder, "posthorn.db"));
	const check = sealCheck(new Seal([Buffer.from(next, "base64")]));
	database.prepare("UPDATE settings SET value = ? WHERE name = ?").run(check, SEAL_CHECK);
	database.close();

	await shop.start();
	const other = await shop.receiver();
	await shop.webhook(other.url("/other"));
	await shop.post(shop.path("/events"), purchase(2));
	await other.count(1);
	await shop.service.hasPrinted(
		new RegExp(`${webhook.id}".*no seal key opens this webhook's signing secret, so nothing is sent to it: restore`),
	);
	const path = shop.path(`/webhooks/${webhook.id}`);
	expect((await shop.get(path)).body).toMatchObject({
		...{ status: "active", secret_state: "unreadable" },
		backlog: { events: 1 },
	});
	// They said that it was healthy, and said nothing about its secret.
	const client = {
		POSTHORN_URL: shop.service.url,
		POSTHORN_API_KEY: shop.operatorKey,
		POSTHORN_PROJECT: shop.projectId,
	};
	const list = await run([COMMAND, "webhooks", "list"], client, shop.folder);
	expect(list.out).toMatch(new RegExp(`^${webhook.id}  no secret +1 `, "m"));
	const one = await run([COMMAND, "webhooks", "get", webhook.id], client, shop.folder);
	expect(one.out).toMatch(/^Health +no secret\nSecret +can't be read: nothing is sent until it is rotated$/m);
	const refused = { type: "/problems/conflict", detail: expect.stringContaining("Rotate the secret") };
	expect((await shop.post(`${path}/test`, { type: "purchase.completed" })).body).toMatchObject(refused);
	await shop.service.stopWith(0);
	const { code, out } = await run([COMMAND, "seal-key", "--lost", "--yes"], shop.settings, shop.folder);
	expect([code, out]).toEqual([0, expect.stringContaining(webhook.id)]);
	await shop.start();
	shop.receivers[0]!.setSecret((await shop.post(`${path}/rotate-secret`, {})).body.secret);
	await shop.patch(path, { status: "active" });
	// The same event again, which is still to be delivered.
	await deliver();
});
