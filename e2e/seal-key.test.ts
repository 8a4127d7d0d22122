import { randomBytes } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Posthorn, unusedPort } from "@posthorn/testkit";
import { PostgresServer } from "@posthorn/testkit/postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { doctor } from "../packages/cli/test/doctor.fixture.ts";
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
