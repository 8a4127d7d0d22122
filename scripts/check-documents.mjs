// Checks that the documents are true where a machine can tell: links lead somewhere, and scripts that are named exist.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { ROOT } from "./setup.mjs";

const SKIP = new Set(["node_modules", ".git", "data", ".cache", "coverage"]);

function* documents(folder) {
	for (const entry of readdirSync(folder, { withFileTypes: true })) {
		if (SKIP.has(entry.name)) continue;
		const path = join(folder, entry.name);
		if (entry.isDirectory()) yield* documents(path);
		else if (entry.name.endsWith(".md")) yield path;
	}
}

const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const faults = [];
for (const path of documents(ROOT)) {
	const text = readFileSync(path, "utf8");
	const where = relative(ROOT, path);
	for (const [, link] of text.matchAll(/\]\(([^)#\s]+)(?:#[^)\s]*)?\)/g)) {
		if (/^[a-z]+:/.test(link)) continue;
		if (!existsSync(join(dirname(path), link))) faults.push(`${where}: the link ${link} leads nowhere`);
	}
	for (const [, script] of text.matchAll(/npm run ([a-z:-]+)/g)) {
		if (!(script in scripts)) faults.push(`${where}: there is no npm script ${script}`);
	}
}
for (const fault of faults) console.error(fault);
process.exitCode = faults.length > 0 ? 1 : 0;
