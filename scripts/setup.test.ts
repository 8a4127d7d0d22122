import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { expect, test } from "vitest";

const ROOT = dirname(import.meta.dirname);

// Without the tools that build it, the dashboard couldn't be built, nor at any later start: the packages counted as
// installed.
test.skipIf(process.platform === "win32")("installs the tools, too, where npm would leave them out", () => {
	const folder = mkdtempSync(join(tmpdir(), "posthorn-setup-"));
	try {
		const manifests = globSync("{package.json,package-lock.json,bench/package.json,packages/*/package.json}", {
			cwd: ROOT,
		});
		for (const path of [...manifests, "scripts/setup.mjs"]) cpSync(join(ROOT, path), join(folder, path));
		// Only lists what it would install.
		const { PATH = "" } = process.env;
		const [bin, list] = [join(folder, "bin"), join(folder, "list")];
		mkdirSync(bin);
		writeFileSync(join(bin, "npm"), `#!/bin/sh\nPATH='${PATH}' npm "$@" --dry-run --offline > '${list}'\nexit 1\n`);
		chmodSync(join(bin, "npm"), 0o755);
		const env = {
			PATH: `${bin}${delimiter}${PATH}`,
			HOME: folder,
			NODE_ENV: "production",
			npm_config_omit: "optional",
		};
		const { status, stderr } = spawnSync(process.execPath, [join(folder, "scripts/setup.mjs")], {
			env,
			encoding: "utf8",
		});
		expect([status, stderr]).toEqual([1, expect.stringContaining("npm ci failed")]);
		const listed = readFileSync(list, "utf8");
		for (const name of ["fastify", "vite", "vitest", "node-\\S+"])
			expect(listed).toMatch(new RegExp(`^add ${name} `, "m"));
	} finally {
		rmSync(folder, { recursive: true });
	}
});
