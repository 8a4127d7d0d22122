/**
 * Writes the types of the events' data, src/event-data.ts, from the catalogue's JSON Schemas. With `--check` it writes
 * nothing and fails when they are stale.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { EVENT_TYPES, type JsonSchema } from "@posthorn/protocol";

const FILE = fileURLToPath(new URL("src/event-data.ts", import.meta.url));
const HEAD = "// Generated from the catalogue of event types: run `npm run docs` after changing it.\n\n";
const PRIMITIVES: Readonly<Record<string, string>> = {
	string: "string",
	integer: "number",
	number: "number",
	boolean: "boolean",
};

const interfaces = EVENT_TYPES.map(
	({ type, description, schema }) => `/** ${description} */\nexport interface ${nameOf(type)} ${typeOf(schema, "")}\n`,
);
const members = EVENT_TYPES.map(({ type }) => `\t"${type}": ${nameOf(type)};\n`).join("");
const source = `${HEAD}${interfaces.join("\n")}\n/** The shape of each event's \`data\`. */\nexport interface EventData {\n${members}}\n`;

if (!process.argv.includes("--check")) {
	writeFileSync(FILE, source);
	console.log(`Written: ${FILE}`);
} else if (!existsSync(FILE) || readFileSync(FILE, "utf8") !== source) {
	console.error("packages/webhooks/src/event-data.ts doesn't match the catalogue: run npm run docs.");
	process.exitCode = 1;
}

/** `purchase.completed` → `PurchaseCompleted`. */
function nameOf(type: string): string {
	return type.replaceAll(/(?:^|[._-])([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** The TypeScript type of a schema. Throws on schemas that the catalogue doesn't use yet. */
function typeOf(schema: JsonSchema, indent: string): string {
	if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
	if (Array.isArray(schema.anyOf)) return schema.anyOf.map((one: JsonSchema) => typeOf(one, indent)).join(" | ");
	if (schema.type === "object") return objectType(schema, indent);
	if (schema.type === "array") return arrayType(typeOf(schema.items as JsonSchema, indent));
	const primitive = PRIMITIVES[String(schema.type)];
	if (primitive === undefined) throw new Error(`No TypeScript type is known for ${JSON.stringify(schema)}.`);
	return primitive;
}

function arrayType(element: string): string {
	return element.includes(" | ") && !element.startsWith("{") ? `(${element})[]` : `${element}[]`;
}

function objectType({ properties = {}, required = [] }: JsonSchema, indent: string): string {
	const inner = `${indent}\t`;
	const needed = required as readonly string[];
	const lines = Object.entries(properties as Record<string, JsonSchema>).map(([name, schema]) => {
		const comment = schema.description ? `${inner}/** ${schema.description} */\n` : "";
		return `${comment}${inner}${name}${needed.includes(name) ? "" : "?"}: ${typeOf(schema, inner)};\n`;
	});
	return `{\n${lines.join("")}${indent}}`;
}
