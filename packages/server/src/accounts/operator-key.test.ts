import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../base/clock.ts";
import type { Storage } from "../storage/port.ts";
import { openSqliteStorage } from "../storage/sqlite/index.ts";
import { keyHash } from "./key.ts";
import { resolveOperatorKey } from "./operator-key.ts";

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

test("a key is made at the first start, known again at the next, and kept as a hash alone", async () => {
	const first = await resolveOperatorKey(storage, null);
	expect(first.made).toMatch(/^pho_[\w-]{43}$/);
	expect(first.hash).toEqual(keyHash(first.made!));
	const next = await resolveOperatorKey(storage, null);
	expect(next).toEqual({ hash: first.hash, made: null });
	const stored = Buffer.concat(readdirSync(folder).map((name) => readFileSync(join(folder, name))));
	expect(stored.includes(first.hash.toString("hex"))).toBe(true);
	expect(stored.includes(first.made!.slice(4))).toBe(false);
});

test("a configured key counts alone and is not stored", async () => {
	const made = await resolveOperatorKey(storage, null);
	const configured = await resolveOperatorKey(storage, "configured-key-of-32-characters-long");
	expect(configured).toEqual({ hash: keyHash("configured-key-of-32-characters-long"), made: null });
	expect((await resolveOperatorKey(storage, null)).hash).toEqual(made.hash);
});

test("of nodes that start at once, one makes the key", async () => {
	const keys = await Promise.all(Array.from({ length: 5 }, () => resolveOperatorKey(storage, null)));
	expect(keys.filter(({ made }) => made !== null)).toHaveLength(1);
	expect(new Set(keys.map(({ hash }) => hash.toString("hex"))).size).toBe(1);
});
