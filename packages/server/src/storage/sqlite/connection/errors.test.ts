import fs, { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { storageError } from "./errors.ts";
import { ExclusiveLock } from "./files.ts";

// Node gives it no name: backups and restores said that the path couldn't be opened.
test.skipIf(process.platform === "win32")("a used-up quota counts as a full disk", () => {
	const errno = -constants.errno.EDQUOT;
	const code = `Unknown system error ${errno}`;
	const error = Object.assign(new Error(`${code}: ${code}, write`), { errno, code, syscall: "write" });
	expect(storageError(error, "posthorn.db")).toMatchObject({ code: "full" });
});

// The error of the probe was reported instead, and its file stayed, one for each failed write.
test.skipIf(process.platform === "win32")(
	"a quota of which only the end of a write tells, as on NFS, counts as a full disk",
	() => {
		const folder = mkdtempSync(join(tmpdir(), "posthorn-"));
		const { closeSync } = fs;
		fs.closeSync = (file) => {
			closeSync(file);
			throw Object.assign(new Error("EDQUOT, close"), {
				errno: -constants.errno.EDQUOT,
				code: "EDQUOT",
				syscall: "close",
			});
		};
		syncBuiltinESMExports();
		onTestFinished(() => {
			fs.closeSync = closeSync;
			syncBuiltinESMExports();
			rmSync(folder, { recursive: true });
		});
		const error = Object.assign(new Error("disk I/O error"), { code: "ERR_SQLITE_ERROR", errcode: 778 });
		expect(storageError(error, join(folder, "posthorn.db"))).toMatchObject({ code: "full" });
		expect(readdirSync(folder)).toEqual([]);
	},
);

// It wasn't an error of storage any more, so the service gave up what it was writing.
test("a probe that a failing disk doesn't remove leaves the error what it is", () => {
	const folder = mkdtempSync(join(tmpdir(), "posthorn-"));
	const { rmSync: remove } = fs;
	fs.rmSync = () => {
		throw Object.assign(new Error("EIO: i/o error, rm"), { errno: -constants.errno.EIO, code: "EIO", syscall: "rm" });
	};
	syncBuiltinESMExports();
	onTestFinished(() => {
		fs.rmSync = remove;
		syncBuiltinESMExports();
		remove(folder, { recursive: true });
	});
	const error = Object.assign(new Error("disk I/O error"), { code: "ERR_SQLITE_ERROR", errcode: 778 });
	expect(storageError(error, join(folder, "posthorn.db"))).toMatchObject({ code: "lost" });
});

// The advice was to give the database and its folder to the service's user.
test.skipIf(process.platform === "win32")("a path that is too long for SQLite is named as such", () => {
	const folder = mkdtempSync(join(tmpdir(), "posthorn-"));
	const deep = join(folder, "a".repeat(200), "b".repeat(200), "c".repeat(100));
	mkdirSync(deep, { recursive: true });
	const path = join(deep, "posthorn.db");
	let error: unknown;
	try {
		new ExclusiveLock(path).release();
	} catch (thrown) {
		error = storageError(thrown, path);
	}
	rmSync(folder, { recursive: true });
	expect(error).toMatchObject({
		code: "unusable",
		message: expect.stringMatching(/c\/posthorn\.db is too long for SQLite: choose one of \d+ bytes or fewer\.$/),
	});
});
