import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";

/** The last commit of the previous release: update it with each release. */
const PREVIOUS = "cc4dc67514";
const ROOT = dirname(import.meta.dirname);

const git = (...args: string[]) =>
	execFileSync("git", args, { cwd: ROOT, maxBuffer: 256 * 1024 * 1024, stdio: "pipe" });

/** Whether this repository's history has the previous release: a shallow clone hasn't. */
export function hasHistory(): boolean {
	try {
		git("cat-file", "-e", `${PREVIOUS}^{commit}`);
		return true;
	} catch {
		return false;
	}
}

/** Checks the previous release out, with this checkout's dependencies. @returns the path of its command */
export function checkOutPrevious(folder: string): string {
	execFileSync("tar", ["-x", "-C", folder], { input: git("archive", PREVIOUS, "package.json", "packages") });
	const modules = join(folder, "node_modules");
	mkdirSync(join(modules, "@posthorn"), { recursive: true });
	const link = (target: string, name: string) => symlinkSync(target, join(modules, name));
	for (const name of readdirSync(join(ROOT, "node_modules")))
		if (name !== "@posthorn" && name !== "posthorn") link(join(ROOT, "node_modules", name), name);
	for (const name of readdirSync(join(folder, "packages"))) {
		const about = join(folder, "packages", name, "package.json");
		if (existsSync(about)) link(join(folder, "packages", name), JSON.parse(readFileSync(about, "utf8")).name);
	}
	return join(folder, "packages/cli/bin/posthorn.mjs");
}
