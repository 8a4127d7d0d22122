// node scripts/strip-types.mjs TARGET FOLDER …: copies TypeScript and JSON in folders below `packages` to TARGET as JavaScript.
// All types are erasable, and lines keep their numbers. Takes a second; `npm run check` checks the types elsewhere. Runs
// on the project's own Node.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { dirname, join, relative } from "node:path";
import { filesIn, ROOT } from "./setup.mjs";

const PACKAGES = join(ROOT, "packages");
const [target, ...folders] = process.argv.slice(2);

for (const path of folders.flatMap((folder) => filesIn(join(PACKAGES, folder)))) {
	if (!/\.(?:ts|json)$/.test(path) || /\.(?:test|fixture|d)\.ts$/.test(path)) continue;
	const file = join(target, relative(PACKAGES, path).replace(/\.ts$/, ".js"));
	const text = readFileSync(path, "utf8");
	mkdirSync(dirname(file), { recursive: true });
	const code = path.endsWith(".ts") ? stripTypeScriptTypes(text) : text;
	writeFileSync(file, code.replaceAll(/(from |import |import\()("\.{1,2}\/[^"]+)\.ts"/g, '$1$2.js"'));
}
