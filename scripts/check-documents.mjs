// Checks what can be checked in documents: links lead to a file and to a heading in it, npm scripts exist, and so do the
// files and folders that ARCHITECTURE.md and the folders' READMEs name. Each decision must be in the list of decisions.
// Settings have no comment after them: systemd and containers read it as part of the value.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { namedPaths } from "./named-paths.ts";
import { PUBLISHED } from "./pack.mjs";
import { ROOT } from "./setup.mjs";

/** Folders in which a document's paths may begin, in addition to its own. */
const BASES = [".", "packages", "packages/server/src", "packages/server/src/storage"];
/** READMEs for users, who don't have these files. */
const FOR_USERS = new Set(["README.md", ...PUBLISHED.map(({ folder }) => join("packages", folder, "README.md"))]);
const SKIP = new Set(["node_modules", ".git", "data", ".cache", "coverage"]);

function* documents(folder) {
	for (const entry of readdirSync(folder, { withFileTypes: true })) {
		if (SKIP.has(entry.name)) continue;
		const path = join(folder, entry.name);
		if (entry.isDirectory()) yield* documents(path);
		else if (entry.name.endsWith(".md")) yield path;
	}
}

/** The anchors that GitHub gives a document's headings, and those that it sets itself. */
function anchorsOf(path) {
	const text = readFileSync(path, "utf8").replaceAll(/^```[\s\S]*?^```/gm, "");
	const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
		heading
			.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
			.trim()
			.toLowerCase()
			.replaceAll(/[^\p{L}\p{N}_\- ]/gu, "")
			.replaceAll(" ", "-"),
	);
	return new Set([...headings, ...[...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)]);
}

const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const faults = [];
for (const path of documents(ROOT)) {
	const text = readFileSync(path, "utf8");
	const where = relative(ROOT, path);
	for (const [, link, anchor] of text.matchAll(/\]\(([^)#\s]*)(?:#([^)\s]*))?\)/g)) {
		if (/^[a-z]+:/.test(link)) continue;
		const target = link === "" ? path : join(dirname(path), link);
		if (!existsSync(target)) faults.push(`${where}: the link ${link} leads nowhere`);
		else if (anchor !== undefined && target.endsWith(".md") && !anchorsOf(target).has(anchor))
			faults.push(`${where}: ${link || "it"} has no heading #${anchor}`);
	}
	if (where === "ARCHITECTURE.md" || (!FOR_USERS.has(where) && basename(where) === "README.md")) {
		for (const { name, folder } of namedPaths(text)) {
			const bases = folder === null ? BASES.map((base) => join(ROOT, base)) : [];
			const isThere = [join(dirname(path), folder ?? ""), ...bases].some((base) => existsSync(join(base, name)));
			if (!isThere) faults.push(`${where}: ${folder ?? ""}${name} does not exist`);
		}
	}
	if (where === "docs/decisions/README.md") {
		for (const name of readdirSync(dirname(path)))
			if (name.endsWith(".md") && name !== "README.md" && !text.includes(`](${name}`))
				faults.push(`${where}: it doesn't list ${name}`);
	}
	for (const [, language, block] of text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)) {
		if (language !== "") continue;
		for (const [, name] of block.matchAll(/^(POSTHORN_\w+)=.*[ \t]#/gm))
			faults.push(`${where}: the comment after ${name} needs a line of its own`);
	}
	for (const [, script] of text.matchAll(/npm run ([a-z:-]+)/g)) {
		if (!(script in scripts)) faults.push(`${where}: there is no npm script ${script}`);
	}
}
for (const fault of faults) console.error(fault);
process.exitCode = faults.length > 0 ? 1 : 0;
