import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

// A workspace that hadn't been added yet kept the old version, and a document that had just been deleted ended it halfway.
test.skipIf(process.platform === "win32")("sets the version of new workspaces, and needs no deleted files", () => {
	const folder = mkdtempSync(join(tmpdir(), "posthorn-version-"));
	try {
		const write = (path: string, text: string, mode = 0o644) => {
			mkdirSync(dirname(join(folder, path)), { recursive: true });
			writeFileSync(join(folder, path), text, { mode });
		};
		const { PATH = "" } = process.env;
		const run = (program: string, ...args: readonly string[]) =>
			spawnSync(program, args, { cwd: folder, env: { PATH: `${folder}/bin:${PATH}` }, encoding: "utf8" });
		for (const name of ["setup", "set-version"])
			cpSync(join(import.meta.dirname, `${name}.mjs`), join(folder, `scripts/${name}.mjs`));
		write("bin/npm", "#!/bin/sh\n", 0o755);
		write("docs/old.md", "posthorn:0.1.0");
		write("packages/cli/package.json", '{ "version": "0.1.0" }');
		run("git", "init", "-q");
		run("git", "add", ".");
		rmSync(join(folder, "docs/old.md"));
		write("packages/added/package.json", '{ "version": "0.1.0" }');
		const { status, stderr } = run(process.execPath, "scripts/set-version.mjs", "0.2.0");
		expect([status, stderr]).toEqual([0, ""]);
		for (const name of ["cli", "added"])
			expect(readFileSync(join(folder, `packages/${name}/package.json`), "utf8")).toContain('"0.2.0"');
	} finally {
		rmSync(folder, { recursive: true });
	}
});
