// `npm run set-version -- 0.2.0`: gives all workspaces this version, and names it in the documents and in deploy.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./setup.mjs";

const [version = ""] = process.argv.slice(2);
if (!/^\d+\.\d+\.\d+(?:-[0-9a-z.]+)?$/.test(version)) {
	console.error("Which version? For example: npm run set-version -- 0.2.0");
	process.exit(2);
}
const { version: before } = JSON.parse(readFileSync(join(ROOT, "packages/cli/package.json"), "utf8"));
const old = before.replaceAll(".", "\\.");

/** In a package.json its own version and those of other workspaces; elsewhere those of packages and images. */
const FILES = [
	[["bench/package.json", "packages/*/package.json"], new RegExp(`("(?:version|@posthorn/[a-z-]+)": ")${old}(")`, "g")],
	[
		["README.md", "packages/*/README.md", "docs/**/*.md", "deploy/**"],
		new RegExp(`(posthorn[a-z-]*[-:]|newTag: )${old}()`, "g"),
	],
];
for (const [patterns, named] of FILES) {
	// New ones, too, and without those that were deleted.
	const args = ["--glob-pathspecs", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", ...patterns];
	for (const path of execFileSync("git", args, { cwd: ROOT, encoding: "utf8" }).split("\0").slice(0, -1)) {
		const file = join(ROOT, path);
		if (!existsSync(file)) continue;
		const text = readFileSync(file, "utf8");
		const changed = text.replaceAll(named, `$1${version}$2`);
		if (changed !== text) writeFileSync(file, changed);
	}
}
execFileSync(process.platform === "win32" ? "npm.cmd" : "npm", ["install", "--package-lock-only", "--ignore-scripts"], {
	cwd: ROOT,
	stdio: "inherit",
	shell: process.platform === "win32",
});
console.log(`${before} is now ${version}. Describe it in CHANGELOG.md.`);
