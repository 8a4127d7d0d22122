/**
 * The exact source text of members of a JSON document (RFC 8259). Parsing and serializing again would change what was
 * published: integers beyond 2^53, the order of keys that look like numbers, escapes, whitespace. So a value's text is
 * cut out of the document instead.
 *
 * Every function here expects text that JSON.parse has accepted; it doesn't validate it again. Each takes time linear
 * in the text and constant stack, at any nesting. For text that isn't JSON the result is meaningless, but still
 * returned in linear time, as a value or as a SyntaxError.
 */

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const SPACE = 0x20;

/**
 * Visits each member of the object that starts at `at`, in order, including those with equal names; nothing if no
 * object starts there. `start` and `end` delimit the member's value.
 */
export function eachMember(text: string, at: number, visit: (name: string, start: number, end: number) => void): void {
	walkMembers(text, at, (keyStart, keyEnd, start, end) => {
		const literal = text.slice(keyStart, keyEnd);
		visit(literal.includes("\\") ? JSON.parse(literal) : literal.slice(1, -1), start, end);
	});
}

/** Visits each element of the array that starts at `at`, in order, until `visit` returns true; nothing if no array starts there. */
export function eachElement(text: string, at: number, visit: (index: number, start: number) => boolean): void {
	if (text.charCodeAt(at) !== OPEN_BRACKET) return;
	let next = skipSpace(text, at + 1);
	if (text.charCodeAt(next) === CLOSE_BRACKET) return;
	for (let index = 0; next < text.length; index++) {
		if (visit(index, next)) return;
		next = skipSpace(text, skipValue(text, next));
		if (text.charCodeAt(next) !== COMMA) return;
		next = skipSpace(text, next + 1);
	}
}

/**
 * The source text of the member `name` of the top-level object; undefined if there is none, or no object. The last of
 * several members with the same name counts, as in JSON.parse.
 */
export function memberSource(text: string, name: string): string | undefined {
	let source: string | undefined;
	walkMembers(text, skipSpace(text, 0), (keyStart, keyEnd, valueStart, valueEnd) => {
		if (isKey(text, keyStart, keyEnd, name)) source = text.slice(valueStart, valueEnd);
	});
	return source;
}

/** Visits the literal of each key with its value. */
function walkMembers(
	text: string,
	start: number,
	visit: (keyStart: number, keyEnd: number, valueStart: number, valueEnd: number) => void,
): void {
	if (text.charCodeAt(start) !== OPEN_BRACE) return;
	let at = skipSpace(text, start + 1);
	while (text.charCodeAt(at) === QUOTE) {
		const keyEnd = skipString(text, at);
		const colon = skipSpace(text, keyEnd);
		const valueStart = skipSpace(text, colon + 1);
		const valueEnd = skipValue(text, valueStart);
		visit(at, keyEnd, valueStart, valueEnd);
		at = skipSpace(text, valueEnd);
		if (text.charCodeAt(at) !== COMMA) break;
		at = skipSpace(text, at + 1);
	}
}

/** Whether the string literal from `start` to `end`, including quotes, spells `name`, possibly with escapes. */
function isKey(text: string, start: number, end: number, name: string): boolean {
	const inner = end - start - 2;
	// An escape is never shorter than the character it stands for.
	if (inner < name.length) return false;
	if (inner === name.length && text.startsWith(name, start + 1)) return true;
	const literal = text.slice(start, end);
	return literal.includes("\\") && JSON.parse(literal) === name;
}

function skipSpace(text: string, at: number): number {
	let next = at;
	while (text.charCodeAt(next) <= SPACE) next++;
	return next;
}

/** The index after the string literal whose opening quote is at `at`. */
function skipString(text: string, at: number): number {
	let quote = text.indexOf('"', at + 1);
	while (quote !== -1) {
		let escapes = quote;
		while (text.charCodeAt(escapes - 1) === BACKSLASH) escapes--;
		// An even run of backslashes escapes only itself.
		if ((quote - escapes) % 2 === 0) return quote + 1;
		quote = text.indexOf('"', quote + 1);
	}
	throw new SyntaxError(`The string at character ${at} of the JSON text has no end; parse the text before slicing it.`);
}

/** The index after the value that starts at `at`. */
function skipValue(text: string, at: number): number {
	const first = text.charCodeAt(at);
	if (first === QUOTE) return skipString(text, at);
	if (first === OPEN_BRACE || first === OPEN_BRACKET) return skipNested(text, at);
	let next = at;
	while (next < text.length && !endsScalar(text.charCodeAt(next))) next++;
	return next;
}

function endsScalar(code: number): boolean {
	return code <= SPACE || code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET;
}

/** The index after the object or array that starts at `at`, found by counting depth. */
function skipNested(text: string, at: number): number {
	let depth = 0;
	let next = at;
	while (next < text.length) {
		const code = text.charCodeAt(next);
		if (code === QUOTE) {
			next = skipString(text, next);
			continue;
		}
		next++;
		if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++;
		else if ((code === CLOSE_BRACE || code === CLOSE_BRACKET) && --depth === 0) return next;
	}
	throw new SyntaxError(`The value at character ${at} of the JSON text has no end; parse the text before slicing it.`);
}
