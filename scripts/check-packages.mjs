// Checks the published packages as npm would install them: publint reads what they export, and attw compiles imports of
// the libraries' types. A package that passed is checked again only after its sources or this file have changed.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { PUBLISHED, pack } from "./pack.mjs";

/** CommonJS projects can load these packages (Node 20.19 and later), but TypeScript's old ways don't resolve them. */
const UNSUPPORTED = new Set(["node10", "node16-cjs"]);

const self = createHash("sha256")
	.update(readFileSync(import.meta.filename))
	.digest("hex")
	.slice(0, 16);
const failures = [];
for (const one of PUBLISHED) {
	const tarball = await pack(one);
	const passed = join(dirname(tarball), `passed-${self}`);
	if (existsSync(passed)) continue;
	const problems = [...(await publintProblems(tarball)), ...(one.command ? [] : await typeProblems(tarball))];
	if (problems.length === 0) writeFileSync(passed, "");
	else failures.push(...problems.map((problem) => `packages/${one.folder}: ${problem}`));
}
for (const failure of failures) console.error(failure);
process.exitCode = failures.length > 0 ? 1 : 0;

async function publintProblems(tarball) {
	const { publint } = await import("publint");
	const { formatMessage } = await import("publint/utils");
	const { messages, pkg } = await publint({ pack: { tarball: arrayBuffer(tarball) }, strict: true });
	return messages.map((message) => formatMessage(message, pkg, { color: false }) ?? message.code);
}

async function typeProblems(tarball) {
	const { checkPackage, createPackageFromTarballData } = await import("@arethetypeswrong/core");
	const result = await checkPackage(createPackageFromTarballData(new Uint8Array(arrayBuffer(tarball))));
	if (!result.types) return ["attw finds no types"];
	return result.problems
		.filter(({ resolutionKind }) => !UNSUPPORTED.has(resolutionKind))
		.map(({ trace, ...problem }) => `attw reports ${JSON.stringify(problem)}`);
}

function arrayBuffer(path) {
	const { buffer, byteOffset, byteLength } = readFileSync(path);
	return buffer.slice(byteOffset, byteOffset + byteLength);
}
