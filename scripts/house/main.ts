/** `npm run house`: how large the service's code is, how it is laid out, and how many files an event passes. */
import { existsSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
// @ts-expect-error: it is plain JavaScript, which has no types
import { readArguments } from "../arguments.mjs";
import { measure } from "./measure.ts";
import { tableOf } from "./table.ts";
import { readWalks, SERVER } from "./walks.ts";

const USAGE = `npm run house -- [--against DIR] [--json]

Measures how large the service's code is, how it is laid out, and how many files an event passes.
--against DIR shows another checkout next to this one.`;
const ROOT = resolve(fileURLToPath(new URL("../..", import.meta.url)));
const values: { against?: string; json?: boolean } = readArguments(
	{ against: { type: "string" }, json: { type: "boolean" } },
	USAGE,
);
const roots = [ROOT, ...(values.against === undefined ? [] : [resolve(values.against)])];
for (const root of roots)
	if (!existsSync(join(root, SERVER))) {
		console.error(`${root} is not a checkout of Posthorn: it has no ${SERVER}.`);
		process.exit(2);
	}
const walks = readWalks(ROOT) ?? [];
const houses = roots.map((root) => ({ name: root === ROOT ? "here" : basename(root), house: measure(root, walks) }));
console.log(values.json ? JSON.stringify(houses, null, "\t") : tableOf(houses));
