// `npm run pack`: writes the tarballs of the published packages to dist/. In the workspace a package's `exports` name its
// TypeScript sources; in its tarball they name what tsc made of them. `npm run pack -- --archive` also writes the archive
// that contains Node. Plain JavaScript for Node 20 or later.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import {
	copyFileSync,
	cpSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	statSync,
	utimesSync,
	writeFileSync,
} from "node:fs";
import { basename, dirname, join, posix, relative } from "node:path";
import { promisify } from "node:util";
import { writeArchive } from "./archive.mjs";
import { readArguments } from "./arguments.mjs";
import { shrinkwrapOf } from "./lock-file.mjs";
import { filesIn, isProgram, projectNode, ROOT, setupToWrite } from "./setup.mjs";

const USAGE = `npm run pack -- [--archive]

Writes the tarballs of the published packages to dist/.
--archive also writes the archive of the service that contains Node.`;

const CACHE = join(ROOT, ".cache/pack");
/** No pack takes this long, milliseconds: what is older was left by a killed one, or by other sources. */
const OLD_MS = 3_600_000;
const SCOPE = "@posthorn/";
const STRIP = join(ROOT, "scripts/strip-types.mjs");
const TSC = join(ROOT, "node_modules/typescript/bin/tsc");
/** What a tarball's package.json keeps; the rest concerns the workspace. */
const KEPT = [
	"name",
	"version",
	"description",
	"keywords",
	"license",
	"type",
	"sideEffects",
	"engines",
	"dependencies",
];

/**
 * @typedef {object} Published
 * @property {string} folder of the package below `packages`
 * @property {string[]} compiled folders below `packages` that are compiled into it, so that it has no dependency on other
 *   workspaces: a library by tsc, as its tsconfig.pack.json says, a command by removing its types
 * @property {string} [command] the program that the package installs; such a package exports nothing
 * @property {string[]} [copied] files and folders below `packages` that the code reads at run time
 * @property {string} [node] the versions of Node it runs on, if its package.json doesn't say
 */

/** @type {Published[]} The published packages. */
export const PUBLISHED = [
	{ folder: "webhooks", compiled: ["webhooks/src", "protocol/src"] },
	{ folder: "client", compiled: ["client/src", "api-types/src", "protocol/src"] },
	{
		folder: "cli",
		command: "bin/posthorn.mjs",
		compiled: ["cli/src", "server/src", "protocol/src", "client/src", "webhooks/src"],
		copied: [
			...["server/src/api/openapi/reference", "dashboard/dist", "protocol/src/vectors.json"],
			...["sqlite", "postgres"].map((engine) => `server/src/storage/${engine}/migrations`),
			"server/src/storage/postgres/schema.sql",
		],
		node: ">=24.15",
	},
];

/**
 * Packs a package, unless it was packed from the same sources before.
 * @param {Published} one
 * @returns {Promise<string>} the path of its tarball, in a folder that belongs to these sources
 */
export async function pack(one) {
	const cache = join(CACHE, one.folder);
	const target = join(cache, stampOf(one));
	const tarballIn = (place) => join(place, readdirSync(place).find((name) => name.endsWith(".tgz")) ?? "");
	if (existsSync(target)) {
		utimesSync(target, new Date(), new Date());
		return tarballIn(target);
	}
	mkdirSync(cache, { recursive: true });
	const stage = mkdtempSync(join(cache, "stage-"));
	try {
		await fill(stage, one);
		place(stage, target);
	} finally {
		rmSync(stage, { recursive: true, force: true });
	}
	prune(cache, Date.now() - OLD_MS);
	return tarballIn(target);
}

/** The version of a package, which is that of all workspaces. */
export const versionOf = ({ folder }) => manifestIn(folder).version;

/** Renames a stage to its target, unless a concurrent pack of the same sources was faster. */
export function place(stage, target) {
	try {
		renameSync(stage, target);
	} catch (error) {
		// The error's code depends on the system: ENOTEMPTY, EEXIST or EPERM.
		if (!existsSync(target)) throw error;
	}
}

/** Deletes what nobody has written or used since `before`, milliseconds since the Unix epoch. */
export function prune(cache, before) {
	for (const name of readdirSync(cache)) {
		const path = join(cache, name);
		const { mtimeMs = before } = statSync(path, { throwIfNoEntry: false }) ?? {};
		if (mtimeMs < before) rmSync(path, { recursive: true, force: true });
	}
}

/** Compiles a package into `stage` and packs it there. */
async function fill(stage, one) {
	const source = join(ROOT, "packages", one.folder);
	const content = join(stage, "package");
	const dist = join(content, "dist");
	await run(
		projectNode(),
		one.command ? [STRIP, dist, ...one.compiled] : [TSC, "-p", join(source, "tsconfig.pack.json"), "--outDir", dist],
	);
	for (const path of one.copied ?? []) copyData(join(ROOT, "packages", path), join(dist, path));
	nameDeclarations(dist);
	const manifest = publicManifest(one);
	writeJson(join(content, "package.json"), manifest);
	if (one.command) {
		mkdirSync(dirname(join(content, one.command)));
		copyFileSync(join(source, one.command), join(content, one.command));
		nameModules(content, one.command);
		// What code reads of its workspace's package.json.
		const { type, version } = manifest;
		for (const folder of readdirSync(dist)) writeJson(join(dist, folder, "package.json"), { type, version });
		writeJson(join(content, "npm-shrinkwrap.json"), shrinkwrapOf(manifest));
	}
	copyFileSync(join(source, "README.md"), join(content, "README.md"));
	copyFileSync(join(ROOT, "LICENSE"), join(content, "LICENSE"));
	await run(
		process.platform === "win32" ? "npm.cmd" : "npm",
		["pack", "--ignore-scripts", "--pack-destination", ".."],
		{
			cwd: content,
			shell: process.platform === "win32",
		},
	);
}

/** Names the state of everything that goes into the tarball. */
function stampOf({ folder, compiled, copied = [], command }) {
	const source = join(ROOT, "packages", folder);
	const own = ["package.json", "README.md", command ?? "tsconfig.pack.json"];
	const scripts = ["pack", "lock-file", "strip-types"].map((name) => `scripts/${name}.mjs`);
	const shared = ["LICENSE", "tsconfig.json", "package-lock.json", ...scripts];
	const sources = [...compiled, ...copied].flatMap((path) => everyFileIn(join(ROOT, "packages", path)));
	const hash = createHash("sha256");
	for (const path of [...own.map((name) => join(source, name)), ...shared.map((name) => join(ROOT, name)), ...sources])
		hash.update(relative(ROOT, path)).update("\0").update(readFileSync(path));
	return hash.digest("hex").slice(0, 16);
}

/** The package.json of the tarball. */
function publicManifest({ folder, command, node }) {
	const manifest = manifestIn(folder);
	const kept = Object.fromEntries(KEPT.filter((key) => key in manifest).map((key) => [key, manifest[key]]));
	if (command)
		return {
			...kept,
			engines: { node },
			bin: { [manifest.name]: command },
			dependencies: dependenciesOf(folder),
			files: ["bin", "dist", "npm-shrinkwrap.json"],
		};
	const compiledTo = (path, ending) => path.replace(/^\.\//, `./dist/${folder}/`).replace(/\.ts$/, ending);
	return {
		...kept,
		exports: Object.fromEntries(
			Object.entries(manifest.exports).map(([name, path]) => [
				name,
				{ types: compiledTo(path, ".d.ts"), default: compiledTo(path, ".js") },
			]),
		),
		files: ["dist"],
	};
}

/** What a package and the workspaces in it need at run time from elsewhere: name to version, sorted. */
function dependenciesOf(folder) {
	const found = Object.entries(manifestIn(folder).dependencies ?? {}).flatMap(([name, version]) =>
		name.startsWith(SCOPE) ? Object.entries(dependenciesOf(name.slice(SCOPE.length))) : [[name, version]],
	);
	return Object.fromEntries(found.sort(([one], [other]) => (one < other ? -1 : 1)));
}

/**
 * In a command's package, modules of other workspaces are files next to its own: `@posthorn/server/config` becomes
 * `../../server/src/config/index.js`.
 */
function nameModules(content, command) {
	const paths = new Map();
	for (const folder of readdirSync(join(content, "dist"))) {
		const { name, exports = {} } = manifestIn(folder);
		for (const [entry, path] of Object.entries(exports))
			paths.set(posix.join(name, entry), join(content, "dist", folder, path.replace(/\.ts$/, ".js")));
	}
	const named = (from, to) => {
		const path = relative(dirname(from), to).replaceAll("\\", "/");
		return path.startsWith(".") ? path : `./${path}`;
	};
	for (const file of filesIn(join(content, "dist")).filter((name) => name.endsWith(".js"))) {
		if (relative(content, file).replaceAll("\\", "/").startsWith("dist/dashboard/")) continue;
		const text = readFileSync(file, "utf8");
		const moved = text.replaceAll(/(from |import |import\(|resolve\()"(@posthorn\/[^"]+)"/g, (_, before, name) => {
			if (!paths.has(name)) throw new Error(`${relative(content, file)} imports ${name}, which isn't in the package.`);
			return `${before}"${named(file, paths.get(name))}"`;
		});
		if (moved !== text) writeFileSync(file, moved);
	}
	const program = join(content, command);
	const source = readFileSync(program, "utf8");
	writeFileSync(program, source.replaceAll(/import\("\.\.\/(src\/[^"]+)\.ts"\)/g, 'import("../dist/cli/$1.js")'));
}

/** Copies a file or folder, without what isn't read at run time. */
function copyData(from, to) {
	cpSync(from, to, { recursive: true, filter: (path) => !/\.(?:ts|map)$|[\\/]\.[^\\/]+$/.test(path) });
}

const manifestIn = (folder) => JSON.parse(readFileSync(join(ROOT, "packages", folder, "package.json"), "utf8"));

const writeJson = (path, value) => writeFileSync(path, `${JSON.stringify(value, null, "\t")}\n`);

/** Like {@link filesIn}, but of a folder that may itself be named dist, or of a single file. */
const everyFileIn = (path) => (statSync(path).isFile() ? [path] : filesIn(path));

/** tsc names imported files `….ts` in declarations, which older versions of TypeScript don't resolve there. */
function nameDeclarations(folder) {
	for (const path of filesIn(folder).filter((name) => name.endsWith(".d.ts"))) {
		const text = readFileSync(path, "utf8");
		writeFileSync(path, text.replaceAll(/(from |import\()("\.{1,2}\/[^"]+)\.ts"/g, '$1$2.js"'));
	}
}

async function run(program, args, options) {
	try {
		await promisify(execFile)(program, args, options);
	} catch (error) {
		throw new Error(`${basename(program)} failed:\n${error.stdout}${error.stderr}`, { cause: error });
	}
}

if (isProgram(import.meta.url)) {
	const { archive } = readArguments({ archive: { type: "boolean" } }, USAGE);
	setupToWrite();
	const folder = join(ROOT, "dist");
	mkdirSync(folder, { recursive: true });
	for (const one of PUBLISHED) {
		const tarball = await pack(one);
		const path = join(folder, basename(tarball));
		cpSync(tarball, path);
		console.log(`Written: ${path}`);
		if (one.command && archive) console.log(`Written: ${writeArchive(tarball, folder)}`);
	}
}
