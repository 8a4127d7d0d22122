import { isNode, type Node, nodesOf, type Source } from "./source.ts";

/** Functions and methods that do nothing but call another one with the same parameters. */
export interface Forwarding {
	readonly functions: number;
	readonly lines: number;
}

/** How much of a file is forwarding: see {@link isForwarding}. Inline callbacks don't count. */
export function forwardingOf({ text, program }: Source): Forwarding {
	let functions = 0;
	let lines = 0;
	for (const node of nodesOf(program)) {
		const fn = functionOf(node);
		if (fn === null || !isForwarding(fn)) continue;
		functions++;
		lines += text.slice(node.start, node.end).split("\n").length;
	}
	return { functions, lines };
}

/** The function that a node declares under a name, or null. */
function functionOf(node: Node): Node | null {
	if (node.type === "FunctionDeclaration") return node;
	const value = node.type === "VariableDeclarator" ? node.init : NAMED.has(node.type) ? node.value : null;
	return isNode(value) && FUNCTIONS.has(value.type) ? value : null;
}

const NAMED = new Set(["MethodDefinition", "PropertyDefinition", "Property"]);
const FUNCTIONS = new Set(["FunctionExpression", "ArrowFunctionExpression"]);

/**
 * Whether the whole body is one call that passes on every parameter, in order and unchanged. The call may add a literal,
 * such as an operation's name, and may wrap another one in an arrow function, whose own parameters come first:
 * `read((c) => getProject(c, id), "engine")`.
 */
function isForwarding({ params, body }: Node): boolean {
	const names = (params as Node[]).map(nameOf);
	if (names.length === 0 || names.includes(null)) return false;
	const call = callOf(body);
	return call !== null && passedOn(call)?.join() === names.join();
}

/**
 * The names of the variables that a call passes on, except its arrow functions' parameters; null if it passes anything
 * else.
 */
function passedOn(call: Node): string[] | null {
	const passed: string[] = [];
	for (const argument of call.arguments as Node[]) {
		if (argument.type === "Literal") continue;
		const name = nameOf(argument);
		if (name !== null) {
			passed.push(name);
			continue;
		}
		const inner = argument.type === "ArrowFunctionExpression" ? callOf(argument.body) : null;
		const names = inner && passedOn(inner);
		if (!names) return null;
		const own = (argument.params as Node[]).map(nameOf);
		passed.push(...names.filter((name) => !own.includes(name)));
	}
	return passed;
}

/** The only call in a body, or null. */
function callOf(body: unknown): Node | null {
	if (!isNode(body)) return null;
	if (body.type === "BlockStatement") {
		const [only, ...more] = body.body as Node[];
		return more.length === 0 ? callOf(only) : null;
	}
	if (body.type === "ReturnStatement" || body.type === "AwaitExpression") return callOf(body.argument);
	if (body.type === "ExpressionStatement") return callOf(body.expression);
	return body.type === "CallExpression" ? body : null;
}

/** The name of a parameter or of a passed variable; null for anything else. */
function nameOf(node: Node): string | null {
	if (node.type === "Identifier") return node.name as string;
	if (node.type === "AssignmentPattern") return nameOf(node.left as Node);
	if (node.type === "RestElement" || node.type === "SpreadElement") return nameOf(node.argument as Node);
	return null;
}
