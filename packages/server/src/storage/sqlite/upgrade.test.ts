import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { backupSqlite, openSqliteStorage } from "./index.ts";
import { APPLICATION_ID, MIGRATIONS } from "./migrations/index.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NOW = Date.UTC(2026, 10, 21);
const clock = { now: () => NOW };

let directory: string;
let path: string;
beforeEach(async () => {
	directory = await mkdtemp(join(tmpdir(), "posthorn-"));
	path = join(directory, "posthorn.db");
});
afterEach(() => rm(directory, { recursive: true }));

/** A database with the first schema: a project, two webhooks (one of them deleted), and attempts by the hour. */
function makeFirstVersion(attempts: number): void {
	const db = new DatabaseSync(path);
	db.exec(`${MIGRATIONS[0]} PRAGMA user_version = 1; PRAGMA application_id = ${APPLICATION_ID};`);
	db.exec(`
		INSERT INTO event_types (code, name) VALUES (1, 'a');
		INSERT INTO projects (no, id, name, developer, created_at, last_seq) VALUES (7, 'proj_x', 'Shop', 1, 0, 1);
		INSERT INTO webhooks (no, id, project_no, url, description, status, max_in_flight, sealed_digest, created_at, deleted_at)
			VALUES (3, 'wh_live', 7, '', '', 'active', 1, x'', 0, NULL), (4, 'wh_gone', 7, '', '', 'active', 1, x'', 0, 1);
		INSERT INTO lanes (webhook_no, cursor) VALUES (3, 1);
		INSERT INTO events (project_no, seq, id, type, type_seq, created_at, published_at, body)
			VALUES (7, 1, 'evt_x', 1, 1, 0, 0, x'');`);
	const insert = db.prepare(`
		INSERT INTO attempts (id, project_no, webhook_no, seq, replay, attempt, type, status, status_code, started_at,
			response_ms, response_truncated, url, sent_brand, sent_timestamp, sent_signature, response_body)
		VALUES (?, 7, ?, 1, 0, ?, 1, ?, 200, ?, ?, 0, '', 'Service', ?, x'', x'')`);
	db.exec("BEGIN");
	for (let i = 1; i <= attempts; i++) {
		const startedAt = NOW - (attempts - i) * HOUR;
		const sentAt = i % 10 === 0 ? null : Math.floor(startedAt / 1000);
		insert.run(`x${String(i).padStart(9, "0")}`, 3 + (i % 2), i, 1 + (i % 3), startedAt, 100, sentAt);
	}
	db.exec("COMMIT");
	db.close();
}

const open = (at = path) => openSqliteStorage({ path: at, clock, leaseTermMs: 1000 });

test("a database of the first version is migrated, and each of its attempts is counted once", async () => {
	makeFirstVersion(240);
	for (let opened = 0; opened < 2; opened++) {
		const storage = await open();
		const month = { since: NOW - 30 * DAY, until: NOW + DAY, stepMs: DAY };
		const { total } = await storage.readStats({ projectId: "proj_x", query: month });
		expect(total).toMatchObject({ delivered: 80, retrying: 80, failed: 80 });
		expect(Math.abs(total.p50Ms! - 100)).toBeLessThanOrEqual(10);
		expect(
			(await storage.readStats({ projectId: "proj_x", query: { ...month, webhookId: "wh_gone" } })).total.delivered,
		).toBe(40);
		const recent = await storage.readStats({
			projectId: "proj_x",
			query: { since: NOW - 6 * HOUR, until: NOW + HOUR, stepMs: 30 * MINUTE },
		});
		expect(recent.buckets.map((bucket) => bucket.delivered + bucket.retrying + bucket.failed)).toEqual(
			Array.from({ length: 14 }, (_, i) => (i % 2 === 0 ? 1 : 0)),
		);
		expect(await storage.hasOperator()).toBe(false);
		await storage.close();
	}
});

test("lanes with settled events beyond their cursor keep the events in between open", async () => {
	makeFirstVersion(0);
	const db = new DatabaseSync(path);
	// Type 1 is subscribed to after event 2, type 3 after event 5; type 2 isn't.
	db.exec(`
		INSERT INTO event_types (code, name) VALUES (2, 'b'), (3, 'c');
		UPDATE projects SET last_seq = 11;
		INSERT INTO subscriptions (webhook_no, type, from_seq) VALUES (3, 1, 2), (3, 3, 5);
		UPDATE lanes SET cursor = 1, ahead = '[6,9,10]';
		INSERT INTO webhooks (no, id, project_no, url, description, status, max_in_flight, sealed_digest, created_at)
			VALUES (5, 'wh_plain', 7, '', '', 'active', 1, x'', 0);
		INSERT INTO subscriptions (webhook_no, type, from_seq) VALUES (5, 1, 0);
		INSERT INTO lanes (webhook_no, cursor) VALUES (5, 4);`);
	const insert = db.prepare(`
		INSERT INTO events (project_no, seq, id, type, type_seq, created_at, published_at, body)
		VALUES (7, ?, ?, ?, 1, 0, 0, x'')`);
	for (const [i, type] of [1, 1, 3, 2, 1, 3, 2, 3, 1, 1].entries()) insert.run(i + 2, `evt_${i + 2}`, type);
	db.close();
	const storage = await open();
	const { lanes } = await storage.loadLanes({ projectId: "proj_x" });
	expect(lanes).toMatchObject([
		{ webhookId: "wh_live", position: 10, open: [3, 7] },
		{ webhookId: "wh_plain", position: 4, open: [] },
	]);
	await storage.close();
});

test("an empty database of the first version is migrated too", async () => {
	makeFirstVersion(0);
	const storage = await open();
	const { total } = await storage.readStats({ projectId: "proj_x", query: { since: 0, until: DAY, stepMs: DAY } });
	expect(total).toMatchObject({ delivered: 0, p50Ms: null });
	await storage.close();
});

test("a backup includes accounts and counts", async () => {
	makeFirstVersion(9);
	const storage = await open();
	const account = { id: "acc_x", email: "ada@example.com", name: "Ada", operator: true, createdAt: NOW };
	await storage.createAccount({ account, normalEmail: "ada@example.com", passwordHash: "hash" });
	const copy = join(directory, "copy.db");
	await backupSqlite(path, copy);
	const restored = await open(copy);
	expect((await restored.getCredentials({ accountId: "acc_x" }))?.account).toEqual(account);
	const day = { since: NOW - DAY, until: NOW + DAY, stepMs: DAY };
	expect(await restored.readStats({ projectId: "proj_x", query: day })).toEqual(
		await storage.readStats({ projectId: "proj_x", query: day }),
	);
	expect((await restored.readStats({ projectId: "proj_x", query: day })).total.failed).toBe(3);
	await restored.close();
	await storage.close();
});

test("API keys of earlier versions have all scopes and don't expire", async () => {
	makeFirstVersion(0);
	const db = new DatabaseSync(path);
	db.exec(
		"INSERT INTO api_keys (id, project_no, name, prefix, hash, created_at) VALUES ('key_x', 7, '', '', x'01', 5)",
	);
	db.close();
	const storage = await open();
	expect(await storage.findApiKey({ hash: Buffer.of(1) })).toMatchObject({
		id: "key_x",
		scopes: ["publish", "read", "manage"],
		expiresAt: null,
		createdBy: null,
	});
	await storage.close();
});
