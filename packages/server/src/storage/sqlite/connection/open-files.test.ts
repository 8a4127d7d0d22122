import {
	copyFileSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	renameSync,
	rmSync,
	statSync,
	symlinkSync,
	unlinkSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { within } from "@posthorn/testkit";
import { beforeEach, expect, test } from "vitest";
import type { Storage, StorageError } from "../../port.ts";
import { openSqliteStorage, readSqliteSetting } from "../index.ts";
import { OpenFiles } from "./open-files.ts";

let folder: string;
let path: string;
let other: string;
let opened: Storage[];
beforeEach(async () => {
	folder = mkdtempSync(join(tmpdir(), "posthorn-open-files-"));
	path = join(folder, "posthorn.db");
	other = join(folder, "other.db");
	opened = [];
	const { storage } = await open(other);
	await storage.setSetting({ name: "which", value: "other" });
	await storage.close();
	return async () => {
		for (const storage of opened) await storage.close();
		rmSync(folder, { recursive: true });
	};
});

async function open(at = path) {
	const { promise: lost, resolve } = Promise.withResolvers<StorageError>();
	const storage = await openSqliteStorage({ path: at, clock: { now: Date.now }, leaseTermMs: 1_000, onDeath: resolve });
	opened.push(storage);
	return { storage, lost: () => within("the storage to notice that its file is gone", lost) };
}

/** A storage with a commit that is only in its log. */
async function openWithCommit() {
	const rig = await open();
	await rig.storage.setSetting({ name: "which", value: "previous" });
	expect(statSync(`${path}-wal`).size).toBeGreaterThan(0);
	return rig;
}

const which = (at: string) => readSqliteSetting(at, "which");

// On Windows, files that are open can't be replaced.
const unix = test.skipIf(process.platform === "win32");

// The service kept writing to the previous file. At the next start, its log was applied to the new one.
unix("notices that another file has its name, and leaves nothing to apply to that one", async () => {
	const { storage, lost } = await openWithCommit();
	renameSync(path, join(folder, "moved.db"));
	renameSync(other, path);
	expect(await lost()).toMatchObject({ code: "lost", message: expect.stringContaining(`${path} was replaced while`) });
	await expect(storage.setSetting({ name: "which", value: "late" })).rejects.toMatchObject({ code: "lost" });
	await expect(storage.ping()).rejects.toMatchObject({ code: "lost" });
	expect(which(path)).toBe("other");
	expect(which(join(folder, "moved.db"))).toBe("previous");
	await storage.close();
	const again = await open();
	expect(await again.storage.getSetting({ name: "which" })).toBe("other");
});

unix("notices that its file was deleted", async () => {
	const { lost } = await openWithCommit();
	for (const end of ["", "-wal", "-shm"]) unlinkSync(`${path}${end}`);
	const { message } = await lost();
	expect(message).toMatch(/was moved or deleted .* put the file back or restore a backup/);
	// It said that the next start creates an empty database, which only happens without a key file.
	expect(message).toMatch(/the next start fails if the seal key is in a file, and begins with an empty one if/);
});

unix("notices that its folder was moved", async () => {
	const inside = join(folder, "data");
	mkdirSync(inside);
	const { storage, lost } = await open(join(inside, "posthorn.db"));
	await storage.setSetting({ name: "which", value: "previous" });
	renameSync(inside, join(folder, "moved"));
	expect((await lost()).message).toContain("was moved or deleted");
	expect(which(join(folder, "moved/posthorn.db"))).toBe("previous");
});

unix("notices that its lock is gone, without which a second service could open the database", async () => {
	const { lost } = await openWithCommit();
	unlinkSync(`${path}.lock`);
	expect((await lost()).message).toContain(`${path}.lock was moved, deleted or replaced`);
	const again = await open();
	expect(await again.storage.getSetting({ name: "which" })).toBe("previous");
});

// Everything since the last checkpoint was only in a file without a name, and a crash or power failure lost it.
unix("notices that its log is gone, and saves what was in it", async () => {
	const { storage, lost } = await openWithCommit();
	unlinkSync(`${path}-wal`);
	await storage.setSetting({ name: "which", value: "later" });
	expect((await lost()).message).toContain(`${path}-wal was moved, deleted or replaced`);
	copyFileSync(path, join(folder, "as-after-a-crash.db"));
	expect(which(join(folder, "as-after-a-crash.db"))).toBe("later");
});

unix("continues without its log until what readers keep in it is saved, too", async () => {
	writeFileSync(path, "");
	writeFileSync(`${path}-wal`, "");
	const states = [
		{ busy: 0, log: 3, checkpointed: 2 },
		{ busy: 1, log: 3, checkpointed: 3 },
		{ busy: 0, log: 3, checkpointed: 3 },
	];
	const db = { prepare: () => ({ get: () => states.shift() }) };
	const files = new OpenFiles(db as unknown as DatabaseSync, path);
	unlinkSync(`${path}-wal`);
	const { promise: lost, resolve } = Promise.withResolvers<StorageError>();
	files.watch(resolve);
	expect((await within("the log to be saved", lost)).code).toBe("lost");
	expect(states).toEqual([]);
});

// The service ended without saying why, and left the log for the next file.
unix("puts the log aside if it can't be emptied, such as onto a full disk", async () => {
	const { storage } = await openWithCommit();
	const full = new Error("database or disk is full");
	const db = {
		exec: () => undefined,
		prepare: () => ({
			get() {
				throw full;
			},
		}),
	};
	const files = new OpenFiles(db as unknown as DatabaseSync, path);
	renameSync(path, join(folder, "moved.db"));
	unlinkSync(`${path}-shm`);
	const aside = files.leave();
	expect(aside).toMatch(/posthorn\.db\.replaced-.*-wal$/);
	expect(readdirSync(folder)).not.toContain("posthorn.db-wal");
	copyFileSync(aside!, join(folder, "moved.db-wal"));
	expect(which(join(folder, "moved.db"))).toBe("previous");
	renameSync(join(folder, "moved.db"), path);
	await storage.close();
});

// SQLite doesn't delete the log of a file that has moved, so the next start applied it to the new one.
unix("a stop right after the file was replaced leaves nothing to apply to the new one", async () => {
	const { storage } = await openWithCommit();
	renameSync(path, join(folder, "moved.db"));
	renameSync(other, path);
	await storage.close();
	expect(which(path)).toBe("other");
	expect(which(join(folder, "moved.db"))).toBe("previous");
});

unix("puts the log aside if a reader keeps it from being emptied", async () => {
	const { storage, lost } = await open();
	const reader = new DatabaseSync(path, { readOnly: true });
	try {
		reader.exec("BEGIN; SELECT count(*) FROM settings");
		reader.prepare("SELECT count(*) FROM settings").get();
		await storage.setSetting({ name: "which", value: "previous" });
		const moved = join(folder, "moved.db");
		renameSync(path, moved);
		renameSync(other, path);
		const { message } = await lost();
		const aside = readdirSync(folder).find((name) => /^posthorn\.db\.replaced-.*-wal$/.test(name));
		// It only said that everything was in the previous file.
		expect(message).toContain(`The last commits of the previous file are in ${join(folder, aside!)}: `);
		expect(readdirSync(folder)).not.toContain("posthorn.db-wal");
		expect(readdirSync(folder)).not.toContain("posthorn.db-shm");
		expect(which(path)).toBe("other");
		copyFileSync(join(folder, aside!), `${moved}-wal`);
		expect(which(moved)).toBe("previous");
	} finally {
		if (reader.isOpen) reader.close();
	}
});

// It said nothing: only the name of the file said what it was.
unix("a stop right after the file was replaced says where a log that can't be emptied is", async () => {
	const { storage } = await open();
	const reader = new DatabaseSync(path, { readOnly: true });
	try {
		reader.exec("BEGIN");
		reader.prepare("SELECT count(*) FROM settings").get();
		await storage.setSetting({ name: "which", value: "previous" });
		renameSync(path, join(folder, "moved.db"));
		renameSync(other, path);
		const text =
			/posthorn\.db was replaced .* last commits of the previous file are in .+posthorn\.db\.replaced-\S+-wal: /;
		await expect(storage.close()).rejects.toMatchObject({ code: "lost", message: expect.stringMatching(text) });
		expect(which(path)).toBe("other");
	} finally {
		reader.close();
	}
});

unix("a symbolic link that is pointed elsewhere is for the next start", async () => {
	const link = join(folder, "link.db");
	symlinkSync("posthorn.db", link);
	const { storage, lost } = await open(link);
	await storage.setSetting({ name: "which", value: "previous" });
	rmSync(link);
	symlinkSync("other.db", link);
	// The link's target is what counts. Its loss shows that the files were checked.
	renameSync(path, join(folder, "moved.db"));
	expect((await lost()).message).toContain(`${path} was moved or deleted`);
	await storage.close();
	expect(which(link)).toBe("other");
});
