import {
	chmodSync,
	copyFileSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeEach, expect, test } from "vitest";
import { CLOCK_SEEN, QUARANTINE } from "../../port.ts";
import { backupSqlite, openSqliteStorage, readSqliteSetting, restoreSqlite } from "../index.ts";
import { ExclusiveLock } from "./files.ts";

let folder: string;
let path: string;
let backup: string;
beforeEach(async () => {
	folder = mkdtempSync(join(tmpdir(), "posthorn-restore-"));
	path = join(folder, "data/posthorn.db");
	backup = join(folder, "backup.db");
	const live = join(folder, "live.db");
	const storage = await openSqliteStorage({ path: live, clock: { now: Date.now }, leaseTermMs: 10_000 });
	await storage.setSetting({ name: CLOCK_SEEN, value: "1795232856000" });
	await backupSqlite(live, backup);
	await storage.setSetting({ name: "after", value: "the backup" });
	// What a killed service leaves: the last commits are only in the write-ahead log.
	mkdirSync(join(folder, "data"));
	for (const end of ["", "-wal"]) copyFileSync(`${live}${end}`, `${path}${end}`);
	await storage.close();
	return () => rmSync(folder, { recursive: true });
});
/** What a restore may not leave. */
const leftOvers = () =>
	readdirSync(join(folder, "data")).filter((name) => /unfinished/.test(name) || /^posthorn\.db-(wal|shm)$/.test(name));

test("keeps the previous database with all of its commits, and takes nothing from its write-ahead log", async () => {
	expect(statSync(`${path}-wal`).size).toBeGreaterThan(0);
	const { replaced, backupAt } = await restoreSqlite(backup, path);
	expect(backupAt).toBe(1795232856000);
	expect(leftOvers()).toEqual([]);
	expect(readSqliteSetting(path, "after")).toBeNull();
	expect(JSON.parse(readSqliteSetting(path, QUARANTINE)!)).toEqual({ since: expect.any(Number), backupAt });
	expect(readSqliteSetting(backup, QUARANTINE)).toBeNull();
	expect(statSync(path).mode & 0o077).toBe(0);

	const previous = new DatabaseSync(replaced!);
	expect(previous.prepare("SELECT value FROM settings WHERE name = 'after'").get()).toEqual({ value: "the backup" });
	previous.close();
});

// A backup had left one.
test("keeps no empty write-ahead log next to the previous database", async () => {
	new DatabaseSync(path).close();
	writeFileSync(`${path}-wal`, "");
	const { replaced } = await restoreSqlite(backup, path);
	expect(existsSync(replaced!)).toBe(true);
	expect(existsSync(`${replaced}-wal`)).toBe(false);
	expect(leftOvers()).toEqual([]);
});

// A killed restore had moved the database away, or an operator had by hand. Its log was then played into the restored one.
test("takes nothing from the write-ahead log of a database that isn't there any more, and keeps it", async () => {
	renameSync(path, join(folder, "moved.db"));
	const log = readFileSync(`${path}-wal`);
	expect(await restoreSqlite(backup, path)).toMatchObject({ replaced: null });
	expect(readSqliteSetting(path, "after")).toBeNull();
	expect(leftOvers()).toEqual([]);
	const [kept] = readdirSync(join(folder, "data")).filter((name) => /replaced-.*-wal$/.test(name));
	expect(readFileSync(join(folder, "data", kept!))).toEqual(log);
});

// SQLite wrote the previous database's pages from it into the restored one.
test("takes nothing from a rollback journal of the previous database, and keeps it", async () => {
	const previous = new DatabaseSync(path);
	previous.exec("PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; CREATE TABLE big (x)");
	previous.exec("INSERT INTO big SELECT randomblob(9000) FROM json_each(json_array(1, 2, 3, 4, 5, 6, 7, 8, 9))");
	previous.exec("BEGIN; UPDATE big SET x = randomblob(1000)");
	// What is left if its process or the machine ends now.
	for (const end of ["", "-journal"]) copyFileSync(`${path}${end}`, join(folder, `killed.db${end}`));
	previous.close();
	for (const end of ["", "-journal"]) copyFileSync(join(folder, `killed.db${end}`), `${path}${end}`);
	const { replaced } = await restoreSqlite(backup, path);
	for (const [file, has] of [
		[path, false],
		[replaced!, true],
	] as const) {
		const db = new DatabaseSync(file);
		expect(db.prepare("PRAGMA quick_check").all()).toEqual([{ quick_check: "ok" }]);
		expect(db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'big'").get() !== undefined, file).toBe(has);
		db.close();
	}
	expect(existsSync(`${path}-journal`)).toBe(false);
});

test("ends sessions, links and invitations, which may have ended since the backup", async () => {
	const source = new DatabaseSync(backup);
	source.exec(`
		INSERT INTO projects (no, id, name, developer, created_at) VALUES (1, 'proj_1', 'A', 0, 1);
		INSERT INTO accounts VALUES ('acc_1', 'a@example.com', 'a@example.com', 'A', 1, 'hash', 1);
		INSERT INTO sessions VALUES ('ses_1', x'01', 'acc_1', 1, 1, 4102444800000, 0, '', '');
		INSERT INTO links VALUES (x'02', 'sign_in', 'acc_1', 4102444800000), (x'04', 'setup', NULL, 4102444800000);
		INSERT INTO invitations (id, token_hash, project_no, role, inviter_kind, inviter_name, created_at, expires_at)
			VALUES ('inv_1', x'03', 1, 'owner', 'operator', 'A', 1, 4102444800000)`);
	source.close();
	await restoreSqlite(backup, path);
	const restored = new DatabaseSync(path);
	const count = (table: string) => restored.prepare(`SELECT count(*) AS n FROM ${table}`).get()!.n;
	expect(["accounts", "sessions", "links", "invitations"].map(count)).toEqual([1, 0, 0, 0]);
	restored.close();
});

// Run by root, it gave any file of the machine to the service's user, who owns the folder.
test.skipIf(process.platform === "win32")(
	"follows no links that are named as its lock or as parts of the database",
	async () => {
		const other = join(folder, "other");
		symlinkSync(other, `${path}.lock`);
		await expect(restoreSqlite(backup, path)).rejects.toThrow(/lock is a symbolic link/);
		expect(existsSync(other)).toBe(false);
		rmSync(`${path}.lock`);
		writeFileSync(other, "");
		chmodSync(other, 0o644);
		symlinkSync(other, `${path}.lock-wal`);
		await restoreSqlite(backup, path);
		expect(statSync(other).mode & 0o777).toBe(0o644);
	},
);

// It said "EROFS: read-only file system, open '….lock'", without what to do.
test.skipIf(process.platform !== "linux")("says where it can't restore to, and what to do", async () => {
	await expect(restoreSqlite(backup, "/proc/posthorn.db")).rejects.toMatchObject({
		code: "unusable",
		message: expect.stringMatching(/^\/proc\/posthorn\.db cannot be opened for writing .*: choose another path/),
	});
});

test("never overwrites a previous database, however soon the next restore follows", async () => {
	const kept = new Set<string>();
	for (let n = 0; n < 3; n++) kept.add((await restoreSqlite(backup, path)).replaced!);
	for (const file of kept) {
		expect(existsSync(file)).toBe(true);
		new DatabaseSync(file).close();
	}
	expect(kept.size).toBe(3);
});

test("changes nothing while a service has the database, or if the backup is damaged", async () => {
	const lock = new ExclusiveLock(path);
	await expect(restoreSqlite(backup, path)).rejects.toMatchObject({ code: "in_use" });
	lock.release();
	const damaged = readFileSync(backup);
	damaged.fill(0xff, 4 * 4_096, 12 * 4_096);
	writeFileSync(backup, damaged);
	await expect(restoreSqlite(backup, path)).rejects.toMatchObject({
		code: "unusable",
		message: expect.stringMatching(/^.+backup\.db is damaged \(.+\): use another backup\.$/),
	});
	expect(leftOvers()).toEqual(["posthorn.db-wal"]);
	const intact = new DatabaseSync(path);
	expect(intact.prepare("SELECT value FROM settings WHERE name = 'after'").get()).toEqual({ value: "the backup" });
	intact.close();
});
