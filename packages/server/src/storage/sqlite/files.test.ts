import { chmod, link, lstat, mkdtemp, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { StorageError } from "../port.ts";
import { backupSqlite, restoreSqlite } from "./connection/backup.ts";
import { openSqliteStorage, readSqliteSetting } from "./index.ts";

const clock = { now: () => Date.UTC(2026, 10, 21) };

let directory: string;
let path: string;
beforeEach(async () => {
	directory = await mkdtemp(join(tmpdir(), "posthorn-"));
	path = join(directory, "posthorn.db");
});
afterEach(() => rm(directory, { recursive: true }));

const open = (at = path) => openSqliteStorage({ path: at, clock, leaseTermMs: 1000 });

async function refusal(at = path): Promise<StorageError> {
	const reason = await open(at).then(
		(storage) => storage.close(),
		(error: unknown) => error,
	);
	expect(reason).toBeInstanceOf(StorageError);
	return reason as StorageError;
}

test("the file and its directories are created; a clean close leaves only the database and its lock file", async () => {
	const deep = join(directory, "a", "b");
	const storage = await open(join(deep, "posthorn.db"));
	await storage.ping();
	await storage.close();
	expect((await readdir(deep)).sort()).toEqual(["posthorn.db", "posthorn.db.lock"]);
});

test("creates files as 0600 and folders as 0700", async () => {
	const deep = join(directory, "a", "b");
	const modes = async (...names: string[]) => {
		const stats = await Promise.all(names.map((name) => stat(join(directory, name))));
		return stats.map(({ mode }) => (mode & 0o777).toString(8));
	};
	const usual = process.umask(0o022);
	try {
		const storage = await open(join(deep, "posthorn.db"));
		await storage.ping();
		const files = (await readdir(deep)).sort();
		expect(files).toEqual(["posthorn.db", "posthorn.db-shm", "posthorn.db-wal", "posthorn.db.lock"]);
		expect(new Set(await modes(...files.map((name) => join("a", "b", name))))).toEqual(new Set(["600"]));
		expect(await modes("a", join("a", "b"))).toEqual(["700", "700"]);
		await backupSqlite(join(deep, "posthorn.db"), join(directory, "copy.db"));
		expect(await modes("copy.db")).toEqual(["600"]);
		await storage.close();
	} finally {
		process.umask(usual);
	}
});

test("makes the files of earlier versions private", async () => {
	await (await open()).close();
	const modes = async () => {
		const stats = await Promise.all((await readdir(directory)).map((name) => stat(join(directory, name))));
		return new Set(stats.map(({ mode }) => (mode & 0o777).toString(8)));
	};
	for (const name of await readdir(directory)) await chmod(join(directory, name), 0o644);
	const storage = await open();
	expect(await modes()).toEqual(new Set(["600"]));
	await storage.close();
});

// Two services once ran the same database, each under another name, and sent each delivery twice.
test("a symbolic link is the same database, even if that doesn't exist yet", async () => {
	const link = join(directory, "link.db");
	await symlink("posthorn.db", link);
	const storage = await open(link);
	expect(await refusal()).toMatchObject({ code: "in_use" });
	await storage.close();
	const again = await open();
	expect(await refusal(link)).toMatchObject({ code: "in_use" });
	await again.close();
	expect((await readdir(directory)).sort()).toEqual(["link.db", "posthorn.db", "posthorn.db.lock"]);

	const writing = await open(link);
	await writing.setSetting({ name: "newest", value: "in the log" });
	expect(readSqliteSetting(link, "newest")).toBe("in the log");
	await writing.close();

	const copy = join(directory, "copy.db");
	await backupSqlite(path, copy);
	await restoreSqlite(copy, link);
	expect((await lstat(link)).isSymbolicLink()).toBe(true);
	expect((await readdir(directory)).filter((name) => name.startsWith("link.db"))).toEqual(["link.db"]);
});

// Each name had its own lock and log: two services opened the same database, and damaged it.
test("a database with a hard link is refused until the link is deleted", async () => {
	await (await open()).close();
	const other = join(directory, "other.db");
	await link(path, other);
	for (const name of [path, other])
		expect(await refusal(name)).toMatchObject({ code: "unusable", message: expect.stringContaining("hard links") });
	await rm(path);
	await (await open(other)).close();
});

test("a file that isn't a database is refused as such, and left unchanged", async () => {
	await writeFile(path, "This is a letter, not a database. ".repeat(100));
	expect(await refusal()).toMatchObject({
		code: "unusable",
		message: expect.stringContaining("is not a SQLite database"),
	});
	expect((await readdir(directory)).sort()).toEqual(["posthorn.db", "posthorn.db.lock"]);
});

// It advised to restore the database, which was fine.
test("a damaged lock file is named as such, and the database works again once it is deleted", async () => {
	await (await open()).close();
	const lock = `${path}.lock`;
	for (const content of ["not a lock", Buffer.alloc(8_192, 0x5a)]) {
		await writeFile(lock, content);
		const { code, message } = await refusal();
		expect([code, message]).toEqual(["unusable", expect.stringMatching(/\.lock is damaged\. .* then delete it\.$/)]);
	}
	await rm(lock);
	await (await open()).close();
});

test("another program's database is refused", async () => {
	const other = new DatabaseSync(path);
	other.exec("CREATE TABLE theirs (x)");
	other.close();
	expect(await refusal()).toMatchObject({ code: "unusable", message: expect.stringContaining("another program's") });
});

test("a database of a newer version is refused with that reason", async () => {
	await (await open()).close();
	const later = new DatabaseSync(path);
	later.exec("PRAGMA user_version = 9999");
	later.close();
	expect(await refusal()).toMatchObject({ code: "unusable", message: expect.stringContaining("newer version") });
});

test("a damaged database fails as damaged when the damaged part is read", async () => {
	const storage = await open();
	for (let i = 0; i < 50; i++) await storage.initSetting({ name: `name ${i}`, value: "x".repeat(1000) });
	await storage.close();
	const db = new DatabaseSync(path);
	const { size } = db.prepare("SELECT page_count * page_size AS size FROM pragma_page_count, pragma_page_size").get()!;
	db.close();
	await writeFile(path, Buffer.alloc((size as number) - 8192, 0x5a), { flag: "r+" }).then(() => undefined);
	expect((await refusal()).code).toBe("unusable");
});

test("an unwritable path is refused with advice", async () => {
	await writeFile(join(directory, "plain"), "");
	const error = await refusal(join(directory, "plain", "posthorn.db"));
	expect(error).toMatchObject({ code: "unusable", message: expect.stringContaining("cannot be") });
});
