import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VirtualClock } from "@posthorn/testkit/virtual-clock";
import { afterEach, beforeEach, expect, test } from "vitest";
import { absentId } from "../base/ids.fixture.ts";
import { IdSource } from "../base/ids.ts";
import { silentLogger } from "../base/logger.ts";
import type { ApiKey, Storage } from "../storage/port.ts";
import { openSqliteStorage } from "../storage/sqlite/index.ts";
import { ApiKeys, type NewKey } from "./api-keys.ts";
import { OperatorKey } from "./operator-key.ts";
import { keyHash } from "./tokens.ts";

const CREATOR = { kind: "operator_key", id: null, name: "The operator's key" } as const;

let folder: string;
let clock: VirtualClock;
let storage: Storage;
let keys: ApiKeys;
let projectId: string;

beforeEach(async () => {
	folder = mkdtempSync(join(tmpdir(), "posthorn-keys-"));
	clock = new VirtualClock();
	storage = await openSqliteStorage({ path: join(folder, "test.db"), clock, leaseTermMs: 15_000 });
	const ids = new IdSource(clock);
	projectId = ids.next("project");
	await storage.createProject({ id: projectId, name: "p", apps: [], createdAt: clock.now() });
	keys = keysOf(storage);
});
afterEach(async () => {
	await keys.close();
	await storage.close();
	rmSync(folder, { recursive: true });
});

function keysOf(of: ConstructorParameters<typeof ApiKeys>[0]["storage"]): ApiKeys {
	const operatorKey = new OperatorKey(keyHash("the operator's key, ü included"));
	return new ApiKeys({ storage: of, operatorKey, clock, ids: new IdSource(clock), logger: silentLogger });
}

async function create(fields: Partial<NewKey> = {}): Promise<{ id: string; key: Buffer }> {
	const result = await keys.create({ projectId, name: "k", createdBy: CREATOR, ...fields });
	if (result.kind !== "created") throw new Error("The key was refused.");
	return { id: result.apiKey.id, key: Buffer.from(result.key) };
}

test("a key belongs to its project, the operator's key to the operator, and any other to no one", async () => {
	const { id, key } = await create();
	expect(await keys.authenticate(key)).toMatchObject({ kind: "project", projectId, keyId: id });
	expect(await keys.authenticate(Buffer.from("the operator's key, ü included"))).toEqual({ kind: "operator" });
	expect(await keys.authenticate(Buffer.from("the operator's key"))).toBeNull();
	expect(await keys.authenticate(key.subarray(0, -1))).toBeNull();
	expect(await keys.authenticate(Buffer.alloc(0))).toBeNull();
});

test("a deleted key stops working immediately", async () => {
	const { id, key } = await create();
	await keys.authenticate(key);
	expect(await keys.delete(projectId, id)).toBe(true);
	expect(await keys.authenticate(key)).toBeNull();
	expect(await keys.delete(projectId, id)).toBe(false);
});

test("a key of another project is not deleted", async () => {
	const { id, key } = await create();
	expect(await keys.delete("proj_other", id)).toBe(false);
	expect(await keys.authenticate(key)).not.toBeNull();
});

test("a key that was deleted on another node ends within seconds", async () => {
	const { id, key } = await create();
	await keys.authenticate(key);
	await storage.deleteApiKey({ projectId, keyId: id });
	clock.advance(5_000);
	expect(await keys.authenticate(key)).toBeNull();
});

// The lookup had read the key, then the key was deleted, and the result would have been cached after that.
test("a key deleted during its lookup isn't cached", async () => {
	const { id, key } = await create();
	let found: () => void = () => {};
	const isFound = new Promise<void>((resolve) => {
		found = resolve;
	});
	let goOn: () => void = () => {};
	const gate = new Promise<void>((resolve) => {
		goOn = resolve;
	});
	const slow = keysOf({
		peers: null,
		createApiKey: (...args) => storage.createApiKey(...args),
		getApiKey: (...args) => storage.getApiKey(...args),
		listApiKeys: (...args) => storage.listApiKeys(...args),
		deleteApiKey: (...args) => storage.deleteApiKey(...args),
		touchApiKeys: (...args) => storage.touchApiKeys(...args),
		async findApiKey(p): Promise<ApiKey | null> {
			const row = await storage.findApiKey(p);
			found();
			await gate;
			return row;
		},
	});
	const first = slow.authenticate(key);
	await isFound;
	await slow.delete(projectId, id);
	goOn();
	await first;
	expect(await slow.authenticate(key)).toBeNull();
	await slow.close();
});

test("a key's use is visible immediately, and written at most once a minute and at shutdown", async () => {
	const { key } = await create();
	const written = async () => (await storage.listApiKeys({ projectId, limit: 1 }))[0]!.lastUsedAt;
	const told = async () => (await keys.list(projectId, { limit: 1 }))[0]!.lastUsedAt;
	expect(await told()).toBeNull();
	clock.advance(1_000);
	await keys.authenticate(key);
	const first = clock.now();
	expect(await told()).toBe(first);
	expect(await written()).toBeNull();
	clock.advance(30_000);
	await keys.authenticate(key);
	const second = clock.now();
	await keys.close();
	expect(await written()).toBe(second);
	expect(clock.nextAt).toBeNull();
});

test("an unwritten use takes precedence over the stored one", async () => {
	const { key } = await create();
	await keys.authenticate(key);
	await keys.close();
	keys = keysOf(storage);
	clock.advance(1_000);
	await keys.authenticate(key);
	expect(await keys.list(projectId, { limit: 1 })).toMatchObject([{ lastUsedAt: clock.now() }]);
});

test("a key can be read by id, only in its project, with its last use", async () => {
	const [{ id, key }, other] = [await create(), await create()];
	await keys.authenticate(key);
	expect(await keys.get(projectId, id)).toMatchObject({ id, lastUsedAt: clock.now() });
	expect(await keys.get(projectId, other.id)).toMatchObject({ id: other.id, lastUsedAt: null });
	expect(await keys.get("proj_other", id)).toBeNull();
	expect(await keys.get(projectId, absentId(id))).toBeNull();
});

test("checks a key's name", async () => {
	for (const name of ["", "x".repeat(101), "a\u0000", "\ud800"])
		expect(await keys.create({ projectId, name, createdBy: CREATOR })).toMatchObject({
			kind: "invalid",
			faults: [{ pointer: "/name" }],
		});
});

test("by default, a key has all scopes and doesn't expire", async () => {
	const { id } = await create();
	expect(await keys.get(projectId, id)).toMatchObject({
		scopes: ["publish", "read", "manage"],
		expiresAt: null,
		createdBy: CREATOR,
	});
});

test("a key has the scopes it was created with, in a fixed order", async () => {
	const { key } = await create({ scopes: ["read", "publish"] });
	expect(await keys.authenticate(key)).toMatchObject({ scopes: ["publish", "read"] });
});

// Whether storage was just asked or the key is cached.
test("a key expires at its time, even if it's cached", async () => {
	const expiresAt = clock.now() + 4_000;
	const { key } = await create({ expiresAt });
	clock.advance(3_999);
	expect(await keys.authenticate(key)).toMatchObject({ kind: "project" });
	const lastUsedAt = clock.now();
	clock.advance(1);
	expect(await keys.authenticate(key)).toEqual({ kind: "expired", at: expiresAt });
	clock.advance(10_000);
	expect(await keys.authenticate(key)).toEqual({ kind: "expired", at: expiresAt });
	expect(await keys.list(projectId, { limit: 1 })).toMatchObject([{ lastUsedAt }]);
});

test("a new key must expire in the future", async () => {
	const invalid = { kind: "invalid", faults: [{ pointer: "/expires_at", detail: "must be in the future" }] };
	const expiring = (expiresAt: number) => keys.create({ projectId, name: "k", createdBy: CREATOR, expiresAt });
	expect(await expiring(clock.now())).toEqual(invalid);
	expect(await expiring(clock.now() + 1)).toMatchObject({ kind: "created" });
});
