import {
	globSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	utimesSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VERSION } from "@posthorn/server/version";
import { afterEach, beforeEach, expect, test } from "vitest";
// @ts-expect-error: it is plain JavaScript, which has no types
import { PUBLISHED, place, prune, versionOf } from "./pack.mjs";

let cache: string;
beforeEach(() => {
	cache = mkdtempSync(join(tmpdir(), "posthorn-pack-"));
});
afterEach(() => rmSync(cache, { recursive: true }));

function folder(name: string, text: string): string {
	const path = join(cache, name);
	mkdirSync(path);
	writeFileSync(join(path, "package.tgz"), text);
	return path;
}

// The second pack used to delete what the first had placed, while the first was about to read it.
test("the first of two concurrent packs of the same sources stays", () => {
	const target = join(cache, "stamp");
	place(folder("stage-1", "first"), target);
	place(folder("stage-2", "second"), target);
	expect(readFileSync(join(target, "package.tgz"), "utf8")).toBe("first");
	expect(() => place(join(cache, "stage-3"), join(cache, "other"))).toThrow("ENOENT");
});

test("prunes stages of killed packs and tarballs of other sources by their age", () => {
	for (const name of ["stage-killed", "stage-running", "stamp-old", "stamp"]) folder(name, name);
	const old = new Date(1_000_000_000_000);
	for (const name of ["stage-killed", "stamp-old"]) utimesSync(join(cache, name), old, old);
	prune(cache, old.getTime() + 1);
	expect(readdirSync(cache).sort()).toEqual(["stage-running", "stamp"]);
});

test("all workspaces have the same version, and require it of each other", () => {
	const packages = join(import.meta.dirname, "../packages");
	for (const name of globSync("*/package.json", { cwd: packages })) {
		const manifest = JSON.parse(readFileSync(join(packages, name), "utf8"));
		expect(manifest.version, name).toBe(VERSION);
		const needed = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
		for (const [other, version] of needed.filter(([other]) => other.startsWith("@posthorn/")))
			expect(version, `${name} needs ${other}`).toBe(VERSION);
	}
	for (const one of PUBLISHED) expect(versionOf(one)).toBe(VERSION);
});
