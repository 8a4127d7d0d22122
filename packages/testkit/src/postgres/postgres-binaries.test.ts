import { chownSync, lchownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { newCluster } from "./postgres-binaries.ts";

/** A path for the server's programs, where none exist. */
function binFolder(): { folder: string; bin: string } {
	const folder = mkdtempSync(join(tmpdir(), "posthorn-binaries-"));
	onTestFinished(() => rmSync(folder, { recursive: true }));
	return { folder, bin: join(folder, "server/bin") };
}

// Each failed start left a copy behind.
test("a cluster that can't be created leaves no draft", async () => {
	const { folder, bin } = binFolder();
	await expect(newCluster(bin, {})).rejects.toThrow("initdb");
	expect(readdirSync(folder)).toEqual([]);
});

// Any user can create files in the folder for temporary files, and the names of shared ones are predictable.
test.skipIf(process.getuid?.() !== 0)("refuses a folder or link of another user", async () => {
	const { folder, bin } = binFolder();
	const place = join(folder, "server-cluster-own");
	mkdirSync(join(place, "data"), { recursive: true });
	expect(await newCluster(bin, {})).toBe(join(place, "data"));
	chownSync(place, 65_534, 65_534);
	await expect(newCluster(bin, {})).rejects.toThrow(`${place} belongs to another user.`);
	rmSync(place, { recursive: true });
	symlinkSync(folder, place);
	lchownSync(place, 65_534, 65_534);
	await expect(newCluster(bin, {})).rejects.toThrow(`${place} belongs to another user.`);
});
