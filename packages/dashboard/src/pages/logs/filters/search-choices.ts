import { upperFirst } from "../../../lib/text/case.ts";
import { jumpTarget } from "../../../lib/text/ids.ts";
import { isolated, typedName } from "../../../lib/text/names.ts";
import { isSearchText, type LogsSearch, withValue } from "../search.ts";

/** What a typed text may mean. */
export interface Choice {
	readonly kind: "event" | "attempt" | "webhook" | "project" | "order" | "customer" | "text";
	readonly value: string;
	/** For a menu. */
	readonly label: string;
}

const ADDRESS = /^[^\s@]+@[^\s@]+$/;

/** The likeliest meaning first; none of an empty text. */
export function choicesOf(typed: string): readonly Choice[] {
	const { kind, id } = jumpTarget(typed);
	if (id === "") return [];
	if (kind !== "unknown") return [{ kind, value: id, label: `${upperFirst(kind)} ${id}` }];
	const value = typedName(typed);
	const order = orderChoice(id);
	const text: Choice[] = isSearchText(value)
		? [{ kind: "text", value, label: `Text in events and responses: ${isolated(value)}` }]
		: [];
	if (ADDRESS.test(id)) return [{ kind: "customer", value: id, label: `Customer: ${id}` }, ...text];
	// People write "#1234" and "order 1234" of an order whose id is 1234.
	const bare = /^(?:order(?:\s+|(?=#)))?#?\s*(\S+)$/i.exec(id)?.[1];
	if (bare !== undefined && bare !== id) return [orderChoice(bare), order, ...text];
	return /\s/.test(id) ? [...text, order] : [order, ...text];
}

const orderChoice = (value: string): Choice => ({ kind: "order", value, label: `Order id: ${isolated(value)}` });

/**
 * The log's filters with this choice added. It replaces an event of an earlier search, and an event replaces orders and
 * customers, because both together rarely match anything. Attempts and projects have pages of their own.
 */
export function searchFor({ kind, value }: Choice, search: LogsSearch = {}): LogsSearch {
	const { text: _, ...others } = search;
	if (kind === "webhook") return withValue(others, "webhook_id", value);
	const { event_id: __, ...rest } = others;
	switch (kind) {
		case "event": {
			const { order_id: _order, customer_email: _customer, ...more } = rest;
			return { ...more, event_id: value };
		}
		case "order":
			return withValue(rest, "order_id", value);
		case "customer":
			return withValue(rest, "customer_email", value);
		case "text":
			return { text: value };
		case "attempt":
		case "project":
			return others;
	}
}
