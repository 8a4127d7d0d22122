import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createFolder } from "./folders.ts";

const root = mkdtempSync(join(tmpdir(), "folders-"));
afterAll(() => rmSync(root, { recursive: true }));

const PRIVATE = 0o700;

test("a folder is created with its parents, of which none is open to others, and may exist", () => {
	const folder = join(root, "a/b/c");
	for (let times = 0; times < 2; times++) createFolder(folder, PRIVATE);
	for (const path of ["a", "a/b", "a/b/c"]) expect(statSync(join(root, path)).mode & 0o777).toBe(PRIVATE);
});

test("a folder below a file, or where the system has none, can't be created", () => {
	writeFileSync(join(root, "file"), "");
	expect(() => createFolder(join(root, "file/a/b"), PRIVATE)).toThrow("ENOTDIR");
	// The first of them was never refused: the call didn't return.
	for (const folder of ["/proc/posthorn/a", "/proc/posthorn"])
		expect(() => createFolder(folder, PRIVATE)).toThrow(/ENOENT|EROFS|EACCES/);
});
