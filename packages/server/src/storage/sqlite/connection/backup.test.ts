import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Storage } from "../../port.ts";
import { backupSqlite, openSqliteStorage, readSqliteSetting, restoreSqlite } from "../index.ts";

const clock = { now: () => Date.UTC(2026, 10, 21) };

let directory: string;
let path: string;
let target: string;
beforeEach(async () => {
	directory = await mkdtemp(join(tmpdir(), "posthorn-"));
	path = join(directory, "posthorn.db");
	target = join(directory, "copy.db");
});
afterEach(() => rm(directory, { recursive: true }));

const open = (at: string) => openSqliteStorage({ path: at, clock, leaseTermMs: 1000 });

async function publish(storage: Storage, from: number, count: number): Promise<void> {
	const events = Array.from({ length: count }, (_, i) => ({
		id: `evt_${from + i}`,
		type: "a",
		createdAt: 1,
		createdAtGiven: true,
		body: Buffer.alloc(1000, "x"),
	}));
	const [result] = await storage.appendEvents({ requests: [{ projectId: "proj_x", publishedAt: 1, events }] });
	expect(result?.kind).toBe("appended");
}

test("a backup by another process while events are being written has the whole log up to some event", async () => {
	const storage = await open(path);
	await storage.createProject({ id: "proj_x", name: "Shop", apps: [], createdAt: 1 });
	await publish(storage, 1, 3000);
	const program = `
		import { backupSqlite } from ${JSON.stringify(import.meta.resolve("../index.ts"))};
		await backupSqlite(${JSON.stringify(path)}, ${JSON.stringify(target)});`;
	const child = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: "inherit" });
	const ended = { code: undefined as number | undefined };
	const exit = once(child, "exit").then(([code]) => {
		ended.code = code as number;
	});
	let written = 3000;
	while (ended.code === undefined) {
		await publish(storage, written + 1, 10);
		written += 10;
	}
	await exit;
	expect(ended.code).toBe(0);
	await storage.close();

	const copy = new DatabaseSync(target);
	expect(copy.prepare("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
	copy.close();
	const restored = await open(target);
	const log = await restored.readLog({ projectId: "proj_x", after: 0, window: { maxEvents: 1e6, maxBytes: 1e9 } });
	expect(log.length).toBeGreaterThanOrEqual(3000);
	expect(log.length).toBeLessThanOrEqual(written);
	expect(log.map(({ seq }) => seq)).toEqual(Array.from({ length: log.length }, (_, i) => i + 1));
	await publish(restored, log.length + 1, 1);
	await restored.close();
});

test("a backup never overwrites, and leaves no partial files", async () => {
	await (await open(path)).close();
	await writeFile(target, "precious");
	await expect(backupSqlite(path, target)).rejects.toMatchObject({
		code: "unusable",
		message: expect.stringContaining("already"),
	});
	const missing = join(directory, "missing.db");
	await expect(backupSqlite(missing, join(directory, "b.db"))).rejects.toMatchObject({ code: "unusable" });
	await writeFile(missing, "not a database ".repeat(1000));
	await expect(backupSqlite(missing, join(directory, "b.db"))).rejects.toMatchObject({ code: "unusable" });
	const nowhere = join(directory, "nowhere");
	await expect(backupSqlite(path, join(nowhere, "b.db"))).rejects.toMatchObject({
		code: "unusable",
		message: `There is no folder ${nowhere}: create it, or choose another for the backup.`,
	});
	const names = await readdir(directory);
	expect(names.filter((name) => name.includes("unfinished") || name.startsWith("b.db"))).toEqual([]);
	await backupSqlite(path, join(directory, "b.db"));
	await (await open(join(directory, "b.db"))).close();
});

// The copy was a file of that name, but the command failed: "ENOTDIR: not a directory, stat 'backups/'".
test("a backup isn't written where a folder is meant", async () => {
	await (await open(path)).close();
	const folder = join(directory, "backups");
	await expect(backupSqlite(path, `${folder}/`)).rejects.toMatchObject({
		code: "unusable",
		message: `There is no folder ${folder}: create it, and name a file in it for the backup.`,
	});
	expect(await readdir(directory)).not.toContain("backups");
});

// It reported a disk error for a folder, and waited forever at a named pipe.
test("what isn't a file is neither backed up nor restored", async () => {
	const [folder, pipe] = [join(directory, "data"), join(directory, "pipe")];
	await mkdir(folder);
	const hasPipe = spawnSync("mkfifo", [pipe]).status === 0;
	for (const other of hasPipe ? [folder, pipe] : [folder]) {
		const refusal = { code: "unusable", message: `${other} is not a file: give the path of a database.` };
		await expect(backupSqlite(other, join(directory, "copy.db"))).rejects.toMatchObject(refusal);
		await expect(restoreSqlite(other, join(directory, "restored.db"))).rejects.toMatchObject(refusal);
		expect(() => readSqliteSetting(other, "made")).toThrow(refusal.message);
	}
	expect((await readdir(directory)).filter((name) => /^(?:copy|restored)\.db$|unfinished/.test(name))).toEqual([]);
});

// It said "ENOTDIR: not a directory, lstat '….unfinished'".
test("says where a backup can't be written, not the name of its draft", async () => {
	await (await open(path)).close();
	for (const where of [join(path, "copy.db"), "/proc/copy.db"]) {
		if (where.startsWith("/proc") && process.platform !== "linux") continue;
		const refused = await backupSqlite(path, where).catch((error: unknown) => error);
		expect(refused).toMatchObject({
			code: "unusable",
			message: expect.stringMatching(/cannot be opened for writing \(E/),
		});
		expect((refused as Error).message).toContain(where);
		expect((refused as Error).message).not.toContain("unfinished");
	}
});
