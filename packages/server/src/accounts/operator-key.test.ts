import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../base/clock.ts";
import type { Storage } from "../storage/port.ts";
import { openSqliteStorage } from "../storage/sqlite/index.ts";
import { createOperatorKey, findOperatorKey } from "./operator-key.ts";
import { keyHash } from "./tokens.ts";

let folder: string;
let storage: Storage;
beforeEach(async () => {
	folder = mkdtempSync(join(tmpdir(), "posthorn-operator-"));
	storage = await openSqliteStorage({ path: join(folder, "test.db"), clock: systemClock, leaseTermMs: 15_000 });
});
afterEach(async () => {
	await storage.close();
	rmSync(folder, { recursive: true });
});

test("a key is found again once it was created, and kept only as a hash", async () => {
	expect(await findOperatorKey(storage, null)).toBeNull();
	const { hash, key } = await createOperatorKey(storage);
	expect(key).toMatch(/^pho_[\w-]{43}$/);
	expect(hash).toEqual(keyHash(key!));
	expect(await findOperatorKey(storage, null)).toEqual(hash);
	const stored = Buffer.concat(readdirSync(folder).map((name) => readFileSync(join(folder, name))));
	expect(stored.includes(hash.toString("hex"))).toBe(true);
	expect(stored.includes(key!.slice(4))).toBe(false);
});

test("a configured key is the only valid one, and is not stored", async () => {
	const { hash } = await createOperatorKey(storage);
	const configured = "configured-key-of-32-characters-long";
	expect(await findOperatorKey(storage, configured)).toEqual(keyHash(configured));
	expect(await findOperatorKey(storage, null)).toEqual(hash);
});

test("nodes that create a key concurrently get one, and one of them shows it", async () => {
	const keys = await Promise.all(Array.from({ length: 5 }, () => createOperatorKey(storage)));
	expect(keys.filter(({ key }) => key !== null)).toHaveLength(1);
	expect(new Set(keys.map(({ hash }) => hash.toString("hex"))).size).toBe(1);
});

test("a key that won't be shown is left in a file that only this user may read", async () => {
	const file = join(folder, "posthorn.operatorkey");
	writeFileSync(file, "the key of another database\n", { mode: 0o644 });
	const usual = process.umask(0);
	const { hash, key } = await createOperatorKey(storage, file).finally(() => process.umask(usual));
	expect(readFileSync(file, "utf8")).toBe(`${key}\n`);
	expect(keyHash(key!)).toEqual(hash);
	expect((statSync(file).mode & 0o777).toString(8)).toBe("600");
	expect(readdirSync(folder).filter((name) => name.endsWith(".new"))).toEqual([]);
});

test("a key whose file can't be written is not created", async () => {
	await expect(createOperatorKey(storage, join(folder, "none", "key"))).rejects.toThrow(
		/ENOENT.*POSTHORN_OPERATOR_KEY/,
	);
	expect(await findOperatorKey(storage, null)).toBeNull();
});
