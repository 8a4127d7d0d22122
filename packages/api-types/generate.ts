/**
 * Writes the types of the HTTP API, src/api.ts, from its OpenAPI document. With `--check` it writes nothing and fails
 * when they are stale.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { documentedApi } from "@posthorn/server/openapi";
import openapiTS, { astToString } from "openapi-typescript";

const FILE = fileURLToPath(new URL("src/api.ts", import.meta.url));
const HEAD =
	"/** The HTTP API's types. Generated from its OpenAPI document: run `npm run docs` after changing a route. */\n\n";

const ast = await openapiTS(JSON.stringify(documentedApi()), {
	alphabetize: false,
	immutable: true,
	defaultNonNullable: false,
});
const types = HEAD + astToString(ast);
if (!process.argv.includes("--check")) {
	mkdirSync(dirname(FILE), { recursive: true });
	writeFileSync(FILE, types);
	console.log(`Written: ${FILE}`);
} else if (!existsSync(FILE) || readFileSync(FILE, "utf8") !== types) {
	console.error("packages/api-types/src/api.ts is not what the API's routes say: run npm run docs.");
	process.exitCode = 1;
}
