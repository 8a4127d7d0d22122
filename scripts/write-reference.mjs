// Writes the script of the API reference (/docs): Scalar's own build for browsers, taken from its npm package. The
// service needs nothing else of the package, so it isn't a dependency.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const PACKAGE = "@scalar/api-reference@1.72.1";
const TARGET = fileURLToPath(new URL("../packages/server/src/api/openapi/reference/", import.meta.url));

const folder = mkdtempSync(join(tmpdir(), "posthorn-reference-"));
try {
	const [{ filename }] = JSON.parse(
		execFileSync("npm", ["pack", PACKAGE, "--json"], { cwd: folder, encoding: "utf8" }),
	);
	execFileSync("tar", ["-xzf", filename, "package/dist/browser/standalone.js"], { cwd: folder });
	const script = readFileSync(join(folder, "package/dist/browser/standalone.js"));
	writeFileSync(join(TARGET, "scalar.js.gz"), gzipSync(script, { level: 9 }));
	console.log(`${PACKAGE}: ${script.length.toLocaleString("en-US")} bytes`);
} finally {
	rmSync(folder, { recursive: true });
}
