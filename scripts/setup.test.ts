import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
	chmodSync,
	cpSync,
	globSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { within } from "@posthorn/testkit/until";
import { beforeEach, expect, test } from "vitest";

const ROOT = dirname(import.meta.dirname);

let folder: string;

beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), "posthorn-setup-"));
	return () => rmSync(folder, { recursive: true });
});

/** A copy of the script, which takes the folder for its project. */
function copyScript(project = folder): string {
	const script = join(project, "scripts/setup.mjs");
	cpSync(join(ROOT, "scripts/setup.mjs"), script);
	return script;
}

// Without the tools that build it, the dashboard couldn't be built, nor at any later start: the packages counted as
// installed.
test.skipIf(process.platform === "win32")("installs the tools, too, where npm would leave them out", () => {
	const manifests = globSync("{package.json,package-lock.json,bench/package.json,packages/*/package.json}", {
		cwd: ROOT,
	});
	for (const path of manifests) cpSync(join(ROOT, path), join(folder, path));
	// Only counts what it would install.
	const { PATH = "" } = process.env;
	const [bin, output] = [join(folder, "bin"), join(folder, "output")];
	mkdirSync(bin);
	writeFileSync(join(bin, "npm"), `#!/bin/sh\nPATH=$REAL_PATH npm "$@" --dry-run --offline > "$OUTPUT"\nexit 1\n`);
	chmodSync(join(bin, "npm"), 0o755);
	const script = copyScript();
	const countWith = (settings: Record<string, string>) => {
		const env = { PATH: `${bin}${delimiter}${PATH}`, REAL_PATH: PATH, OUTPUT: output, HOME: folder, ...settings };
		const { status, stdout, stderr } = spawnSync(process.execPath, [script], { env, encoding: "utf8" });
		// Messages on standard output would get into that of `npm run bench -- --json`.
		expect([status, stdout, stderr]).toEqual([1, "", expect.stringContaining("npm ci failed")]);
		return /^added \d+ packages/m.exec(readFileSync(output, "utf8"))?.[0];
	};
	const all = countWith({});
	expect(all).toBeDefined();
	expect(countWith({ NODE_ENV: "production", npm_config_omit: "optional" })).toBe(all);
});

// On Node 20.18, npm silently left out the native part of the tool that builds the dashboard. Packages run on the
// project's own Node: remove the `engines` of such a package from the lock file.
test("npm leaves out no optional package on an older Node", () => {
	const { packages } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as {
		packages: Record<string, { optional?: boolean; engines?: { node?: string } }>;
	};
	const left = Object.entries(packages)
		.filter(([, { optional, engines }]) => optional && engines?.node !== undefined && !includesNode20(engines.node))
		.map(([place]) => place);
	expect(left).toEqual([]);
});

/** @param range of versions, as in `^8.16.0 || >=11.0.0` */
const includesNode20 = (range: string): boolean =>
	range.split("||").some((part) => Number(/^\s*>=\s*(\d+)/.exec(part)?.[1]) < 20);

// `npm run pack` and others ended with a stack trace.
test.skipIf(process.platform === "win32")("says in one line that this user can't write to the project", () => {
	copyScript();
	chmodSync(folder, 0o555);
	// As root, it would be allowed.
	const code = `import("./scripts/setup.mjs").then(({ setupToWrite }) => {
		if (process.getuid() === 0) process.setuid(65_534);
		setupToWrite();
	})`;
	const { status, stdout, stderr } = spawnSync(process.execPath, ["-e", code], { cwd: folder, encoding: "utf8" });
	chmodSync(folder, 0o755);
	expect([status, stdout]).toEqual([1, ""]);
	expect(stderr).toMatch(/^This command has to write to .+ \(EACCES\)\. Run it as .*\n$/);
});

// It was React's development build, a third larger, and was packed like that.
test("builds the dashboard for production, whatever NODE_ENV says", () => {
	const write = (path: string, text: string) => {
		mkdirSync(dirname(join(folder, path)), { recursive: true });
		writeFileSync(join(folder, path), text);
	};
	const installed = createHash("sha256").update(`{}${process.platform}-${process.arch}`).digest("hex");
	write("package-lock.json", "{}");
	write("node_modules/.posthorn-setup", installed);
	write("node_modules/vite/bin/vite.js", 'console.log("for " + process.env.NODE_ENV); process.exitCode = 1;');
	for (const name of ["dashboard", "protocol"]) write(`packages/${name}/package.json`, "{}");
	const env = { ...process.env, NODE_ENV: "development" };
	const { stderr } = spawnSync(process.execPath, [copyScript()], { env, encoding: "utf8" });
	expect(stderr).toContain("for production\n");
});

// Vite failed there after the packages had been installed. By a link, setup did nothing and ended with 0.
test.skipIf(process.platform === "win32")("refuses a folder in which Vite can't build, even by a link to it", () => {
	const linked = join(folder, "linked");
	copyScript(join(folder, "clone #2"));
	symlinkSync(join(folder, "clone #2"), linked);
	const { status, stderr } = spawnSync(process.execPath, [join(linked, "scripts/setup.mjs")], { encoding: "utf8" });
	expect([status, stderr]).toEqual([1, expect.stringMatching(/^Move this folder: .*clone #2 contains "#"/)]);
});

// The compiler ignores signals, so `npm test` continued with the tests after it had been asked to stop.
test.skipIf(process.platform === "win32")(
	"a signal ends programs that ignore it, and those that they started",
	async () => {
		const ignores = `process.on("SIGTERM", () => {}); setTimeout(() => {}, 60_000);`;
		const starts = `${ignores}
		require("node:child_process").spawn(process.execPath, ["-e", ${JSON.stringify(ignores)}], { stdio: "inherit" });
		console.log("started");`;
		const code = `
		import * as scripts from ${JSON.stringify(pathToFileURL(join(ROOT, "scripts/setup.mjs")).href)};
		const code = await scripts.runNode(["-e", ${JSON.stringify(starts)}], { ignoresSignals: true });
		console.log([code, scripts.isInterrupted].join(" "));`;
		const program = spawn(process.execPath, ["--input-type=module", "-e", code], {
			stdio: ["ignore", "pipe", "inherit"],
		});
		try {
			let output = "";
			program.stdout.setEncoding("utf8").on("data", (text: string) => {
				output += text;
				if (output === text) program.kill("SIGTERM");
			});
			// Its output closes once everything that has inherited it has ended.
			await within("the program to end", once(program, "close"));
			expect(output).toBe("started\n128 true\n");
		} finally {
			program.kill("SIGKILL");
		}
	},
);
