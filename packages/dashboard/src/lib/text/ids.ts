import { cutMiddle } from "./cut.ts";
import { typedName, visibleForm } from "./names.ts";

/** The kinds of things that can be opened by id. */
const KINDS = { evt: "event", att: "attempt", wh: "webhook", proj: "project" } as const;

interface JumpTarget {
	readonly kind: (typeof KINDS)[keyof typeof KINDS] | "unknown";
	readonly id: string;
}

/** Characters of an id that are shown at each end, not counting its kind. */
const ID_ENDS = 4;

/** An id shortened in the middle, keeping its kind and its end: `evt_01kb…y6a7`. */
export const shortId = (id: string): string => cutMiddle(id, id.lastIndexOf("_") + 1 + ID_ENDS, ID_ENDS);

/** An order id, which is the store's own, shortened in the middle to fit into a column. Most differ at their end. */
export const shortOrderId = (id: string): string => cutMiddle(id, 10, 8);

/**
 * The options of a menu, with ids as values. Labels that look the same get the option's `hint` or its short id added. So do
 * those that look like another one with its hint: people choose their own names.
 */
export function toldApart<Option extends { value: string; label: string; hint?: string }>(
	options: readonly Option[],
): Option[] {
	const hinted = ({ value, label, hint = shortId(value) }: Option) => `${label} (${hint})`;
	const alike = Map.groupBy(options, ({ label }) => visibleForm(label));
	const withHint = new Set(options.map((option) => visibleForm(hinted(option))));
	return options.map((option) => {
		const isClear = alike.get(visibleForm(option.label))!.length === 1 && !withHint.has(visibleForm(option.label));
		return isClear && !alike.has(visibleForm(hinted(option))) ? option : { ...option, label: hinted(option) };
	});
}

/** What a typed or pasted id refers to. Surrounding space and quotation marks are ignored. */
export function jumpTarget(text: string): JumpTarget {
	const id = typedName(text).replace(/^["'`]+|["'`,]+$/g, "");
	const prefix = /^([a-z]+)_\S+$/.exec(id)?.[1];
	if (prefix !== undefined && Object.hasOwn(KINDS, prefix)) return { kind: KINDS[prefix as keyof typeof KINDS], id };
	return { kind: "unknown", id };
}
