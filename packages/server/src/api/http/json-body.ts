import { isUtf8 } from "node:buffer";
import { REQUESTS } from "../../base/budgets.ts";
import { grouped } from "../../base/text.ts";
import { pointerAt, type ScannedList, type Spans, scanJson } from "./json-scan.ts";
import { invalid, Problem } from "./problem.ts";
import { isObject } from "./validate.ts";

/** The list that a route's body may have: its elements are counted before anything is parsed, then parsed in slices. */
export interface BodyList {
	readonly member: string;
	readonly items: number;
	/** The largest element, bytes; a body without the list may be as large. */
	readonly itemBytes: number;
}

export interface JsonBody {
	/** What JSON.parse returns for it; if it has the route's list, that member is a {@link JsonList}. */
	readonly value: unknown;
	/** The text that `value` was parsed from; without the list's elements. */
	readonly text: string;
}

/** Elements that were parsed together. */
interface Group {
	readonly first: number;
	readonly values: readonly unknown[];
	/** The source if it is ASCII, where a character is a byte and elements can be cut out of it; otherwise null. */
	readonly text: string | null;
	/** Where the first element starts in the body. */
	readonly start: number;
}

/** Elements of a list, parsed on demand: small ones a slice at a time, because each JSON.parse has a fixed cost. */
export class JsonList {
	readonly #member: string;
	readonly #bytes: Buffer;
	readonly #items: Spans;
	#group: Group | null = null;
	/** An element isn't valid JSON. From here on, each is parsed separately, to report which. */
	#isBroken = false;

	constructor(member: string, bytes: Buffer, items: Spans) {
		this.#member = member;
		this.#bytes = bytes;
		this.#items = items;
	}

	get length(): number {
		return this.#items.length;
	}

	/** Includes what is between the elements. */
	get bytes(): number {
		const { length } = this.#items;
		return length === 0 ? 0 : this.#items.end(length - 1) - this.#items.start(0);
	}

	/** The size of an element, bytes. */
	size(index: number): number {
		return this.#items.size(index);
	}

	/** Parses one element. @throws Problem 400 if it is not JSON */
	read(index: number): JsonBody {
		const start = this.#items.start(index);
		const end = this.#items.end(index);
		const group = this.#groupOf(index);
		const text = group?.text?.slice(start - group.start, end - group.start) ?? this.#bytes.toString("utf8", start, end);
		const value = group
			? group.values[index - group.first]
			: parse(text, ` (in element ${index} of "${this.#member}")`);
		return { value, text };
	}

	/** The index after the last element that is parsed together with this one, if this one is read first. */
	groupEnd(first: number): number {
		let end = first + 1;
		for (let bytes = this.#weight(first); end < this.#items.length; end++) {
			bytes += this.#weight(end);
			if (bytes > REQUESTS.groupBytes) break;
		}
		return end;
	}

	/** Drops what was parsed: while its reader waits, the list holds only the body's bytes. */
	rest(): void {
		this.#group = null;
	}

	#weight(index: number): number {
		return this.size(index) + REQUESTS.pieceBytes;
	}

	#groupOf(index: number): Group | null {
		if (this.#isBroken) return null;
		const group = this.#group;
		if (group && index >= group.first && index < group.first + group.values.length) return group;
		this.#group = this.#parseFrom(index);
		this.#isBroken = this.#group === null;
		return this.#group;
	}

	#parseFrom(first: number): Group | null {
		const start = this.#items.start(first);
		const last = this.groupEnd(first) - 1;
		const bytes = this.#bytes.subarray(start, this.#items.end(last));
		const text = bytes.toString("utf8");
		try {
			const values = JSON.parse(`[${text}]`) as unknown[];
			// Without this, no text at all would be an empty list.
			if (values.length !== last - first + 1) return null;
			return { first, values, text: text.length === bytes.length ? text : null, start };
		} catch {
			return null;
		}
	}
}

/** How many elements the list of a parsed body has. */
export function lengthOfList(body: unknown, { member }: Pick<BodyList, "member">): number {
	const list = isObject(body) ? body[member] : undefined;
	return list instanceof JsonList ? list.length : 0;
}

/**
 * Parses the body as JSON. Keys such as `__proto__` are ordinary names, because JSON.parse makes them plain members and
 * nothing here copies members from one object to another.
 *
 * @throws Problem 400 if it isn't JSON in UTF-8; 413 or 422 if it is too large, deep or long, before it is parsed
 */
export function parseBody(given: Buffer, list?: BodyList): JsonBody {
	if (!isUtf8(given)) throw new Problem("malformed-request", "The body is not valid UTF-8.");
	const bytes = given[0] === 0xef && given[1] === 0xbb && given[2] === 0xbf ? given.subarray(3) : given;
	const scan = scanJson(bytes, { nesting: REQUESTS.nesting, ...(list && { list }) });
	switch (scan.kind) {
		case "deep":
			throw invalid([
				{
					pointer: pointerAt(bytes, scan.at),
					detail: `must nest at most ${REQUESTS.nesting} levels; goes deeper at byte ${scan.at + 1}`,
				},
			]);
		case "long":
			throw invalid([{ pointer: `/${list!.member}`, detail: `must have at most ${list!.items} items` }]);
		case "broken":
			throw new Problem(
				"malformed-request",
				`The body is not valid JSON: "${list!.member}" must be present once, as a list with a closing bracket (byte ${scan.at + 1}).`,
			);
		case "fits":
			if (list && scan.list) return withList(bytes, list, scan.list);
			if (list && bytes.length > list.itemBytes) throw singleTooLarge(bytes.length, list);
	}
	const text = bytes.toString("utf8");
	return { value: parse(text), text };
}

/** The whole is valid JSON if each element is, and so is the text around the list. */
function withList(bytes: Buffer, { member, itemBytes }: BodyList, { span, items }: ScannedList): JsonBody {
	const around = bytes.length - (span.end - span.start);
	if (around > REQUESTS.bodyBytes)
		throw invalid([
			{ pointer: "", detail: `must have at most ${REQUESTS.bodyBytes} bytes in addition to "${member}"` },
		]);
	for (let index = 0; index < items.length; index++)
		if (items.size(index) > itemBytes) throw itemTooLarge(items.size(index), `/${member}/${index}`, itemBytes);
	const text = `${bytes.toString("utf8", 0, span.start)}[]${bytes.toString("utf8", span.end)}`;
	const value = parse(text) as Record<string, unknown>;
	value[member] = new JsonList(member, bytes, items);
	return { value, text };
}

function itemTooLarge(bytes: number, pointer: string, limit: number): Problem {
	const why = `An element of the list has ${grouped(bytes)} bytes; ${grouped(limit)} are allowed.`;
	return new Problem("too-large", why, { errors: [{ pointer, detail: `must have at most ${limit} bytes` }] });
}

function singleTooLarge(bytes: number, { member, itemBytes }: BodyList): Problem {
	return new Problem(
		"too-large",
		`The body has ${grouped(bytes)} bytes and no list "${member}"; without one, this call accepts at most ${grouped(itemBytes)}.`,
	);
}

function parse(text: string, where = ""): unknown {
	try {
		return JSON.parse(text);
	} catch (error) {
		if (!(error instanceof SyntaxError)) throw error;
		throw new Problem(
			"malformed-request",
			`The body is not valid JSON${where}: ${error.message.slice(0, 200).toWellFormed()}.`,
		);
	}
}
