import { readFileSync } from "node:fs";
import { parseSync } from "vite";

/** A node of the syntax tree, in ESTree's form. */
export interface Node {
	readonly type: string;
	readonly start: number;
	readonly end: number;
	readonly [member: string]: unknown;
}

/** A file of TypeScript and its syntax tree. */
export interface Source {
	readonly text: string;
	/** As `wc -l` counts them. */
	readonly lines: number;
	readonly program: Node;
}

/** @throws Error if the file is missing or is not TypeScript */
export function readSource(path: string): Source {
	return parseSource(path, readFileSync(path, "utf8"));
}

/** @throws Error if the text is not TypeScript */
export function parseSource(path: string, text: string): Source {
	const { program, errors } = parseSync(path, text);
	if (errors.length > 0) throw new Error(`${path}: ${errors[0]!.message}`);
	return { text, lines: text.split("\n").length - 1, program: program as unknown as Node };
}

/** Every node, parents before their children. */
export function* nodesOf(node: Node): Generator<Node> {
	yield node;
	for (const value of Object.values(node))
		for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) yield* nodesOf(child);
}

export function isNode(value: unknown): value is Node {
	return typeof value === "object" && value !== null && typeof (value as Node).type === "string";
}
