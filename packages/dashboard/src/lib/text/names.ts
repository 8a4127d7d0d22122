/** Up to two initials of a name: of its first and last word. `?` if it has no letter or digit. */
export function initials(name: string): string {
	const words = name.match(/[\p{L}\p{N}][^\s]*/gu) ?? [];
	const first = words[0];
	const last = words.length > 1 ? words.at(-1) : undefined;
	if (first === undefined) return "?";
	return [first, last].map((word) => (word === undefined ? "" : [...word][0]!.toUpperCase())).join("");
}

/** Scripts that are written from the right, such as Hebrew and Arabic, and the mark that acts like them. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\u200f\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const [FIRST_STRONG_ISOLATE, POP_ISOLATE] = ["\u2068", "\u2069"];

/**
 * A text that someone chose, such as a name, for a sentence of ours: if it is written from right to left, it is isolated
 * by characters, so that it can't reorder what is around it. They also work where elements don't, as in the titles of tabs.
 */
export const isolated = (text: string): string =>
	RIGHT_TO_LEFT.test(text) ? `${FIRST_STRONG_ISOLATE}${text}${POP_ISOLATE}` : text;

/** A name or id as someone typed or pasted it, without space around it, and without what {@link isolated} adds to a copied one. */
export const typedName = (text: string): string => text.replace(/[\u2068\u2069]/g, "").trim();

/** A name as it looks: without invisible characters, and with one space for spaces of any kind in a row. */
export const visibleForm = (name: string): string =>
	typedName(name)
		.normalize("NFC")
		.replace(/\p{Default_Ignorable_Code_Point}/gu, "")
		.replace(/[\s\u2800]+/g, " ")
		.trim();

/** Whether two names look the same, so that someone who types what they see has typed the name. */
export const lookSame = (one: string, other: string): boolean => visibleForm(one) === visibleForm(other);
