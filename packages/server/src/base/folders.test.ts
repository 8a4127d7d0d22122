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

test("a folder below a file can't be created", () => {
	writeFileSync(join(root, "file"), "");
	expect(() => createFolder(join(root, "file/a/b"), PRIVATE)).toThrow("ENOTDIR");
});

// With Node's `recursive`, the first call never returned.
test.runIf(process.platform === "linux").each(["/proc/posthorn/a", "/proc/posthorn"])(
	"%s can't be created",
	(folder) => {
		expect(() => createFolder(folder, PRIVATE)).toThrow("ENOENT");
	},
);
