// `npm run pack`: writes the tarballs of the published packages to dist/. In the workspace a package's `exports` name its
// TypeScript sources; in its tarball they name what tsc made of them. Plain JavaScript for Node 20 or later.
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
import { basename, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { filesIn, install, projectNode, ROOT } from "./setup.mjs";

const CACHE = join(ROOT, ".cache/pack");
/** No pack takes this long, milliseconds: what is older was left by a killed one, or by other sources. */
const OLD_MS = 3_600_000;
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
 * The published packages: their folder below `packages`, and the folders that tsc compiles into them, as their
 * tsconfig.pack.json says. Code of other packages is compiled in, so that a package has no dependency on them.
 */
export const PUBLISHED = [{ folder: "webhooks", compiled: ["webhooks/src", "protocol/src"] }];

/**
 * Packs a package, unless it was packed from the same sources before.
 * @returns {Promise<string>} the path of its tarball, in a folder that belongs to these sources
 */
export async function pack({ folder, compiled }) {
	const source = join(ROOT, "packages", folder);
	const cache = join(CACHE, folder);
	const target = join(cache, stampOf(source, compiled));
	const tarballIn = (place) => join(place, readdirSync(place).find((name) => name.endsWith(".tgz")) ?? "");
	if (existsSync(target)) {
		utimesSync(target, new Date(), new Date());
		return tarballIn(target);
	}
	mkdirSync(cache, { recursive: true });
	const stage = mkdtempSync(join(cache, "stage-"));
	try {
		await fill(stage, source);
		place(stage, target);
	} finally {
		rmSync(stage, { recursive: true, force: true });
	}
	prune(cache, Date.now() - OLD_MS);
	return tarballIn(target);
}

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
async function fill(stage, source) {
	const content = join(stage, "package");
	await run(projectNode(), [TSC, "-p", join(source, "tsconfig.pack.json"), "--outDir", join(content, "dist")]);
	nameDeclarations(join(content, "dist"));
	writeFileSync(join(content, "package.json"), `${JSON.stringify(publicManifest(source), null, "\t")}\n`);
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
function stampOf(source, compiled) {
	const own = ["package.json", "README.md", "tsconfig.pack.json"].map((name) => join(source, name));
	const shared = ["LICENSE", "tsconfig.json", "package-lock.json", "scripts/pack.mjs"].map((name) => join(ROOT, name));
	const sources = compiled.flatMap((path) => filesIn(join(ROOT, "packages", path)));
	const hash = createHash("sha256");
	for (const path of [...own, ...shared, ...sources])
		hash.update(relative(ROOT, path)).update("\0").update(readFileSync(path));
	return hash.digest("hex").slice(0, 16);
}

/** The package.json of the tarball. */
function publicManifest(source) {
	const manifest = JSON.parse(readFileSync(join(source, "package.json"), "utf8"));
	const compiledTo = (path, ending) => path.replace(/^\.\//, `./dist/${basename(source)}/`).replace(/\.ts$/, ending);
	return {
		...Object.fromEntries(KEPT.filter((key) => key in manifest).map((key) => [key, manifest[key]])),
		exports: Object.fromEntries(
			Object.entries(manifest.exports).map(([name, path]) => [
				name,
				{ types: compiledTo(path, ".d.ts"), default: compiledTo(path, ".js") },
			]),
		),
		files: ["dist"],
	};
}

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

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	install();
	const folder = join(ROOT, "dist");
	mkdirSync(folder, { recursive: true });
	for (const one of PUBLISHED) {
		const tarball = await pack(one);
		const path = join(folder, basename(tarball));
		cpSync(tarball, path);
		console.log(`Written: ${path}`);
	}
}
