/**
 * What no name may contain: control characters, line separators, and characters that change the direction of the text
 * after them. Names are shown within sentences, which they could make say something else. Marks that only have a
 * direction themselves are allowed.
 */
const CONTROLS = "\\x00-\\x1f\\x7f-\\x9f\\u2028-\\u202e\\u2066-\\u2069";
/**
 * What shows nothing: spaces, fillers, and what Unicode calls default ignorable. Beyond U+FFFF these are the characters
 * themselves, because regular expression engines disagree on how to write them.
 */
const BLANK =
	" \\xa0\\xad\\u034f\\u061c\\u115f\\u1160\\u1680\\u17b4\\u17b5\\u180b-\\u180f\\u2000-\\u200f\\u202f\\u205f-\\u2065" +
	"\\u206a-\\u206f\\u2800\\u3000\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffb" +
	"\u{1bca0}-\u{1bca3}\u{1d159}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}";

/** Names: nothing {@link CONTROLS}, and unless empty, something that is visible. Takes time linear in the text. */
export const NAME_PATTERN = `^(?:[${BLANK}]*[^${CONTROLS}${BLANK}][^${CONTROLS}]*)?$`;
export const NAME_DETAIL =
	"must have a visible character, no control characters, such as line breaks or tabs, and none that change the direction of text";

/** How long the names of projects, people and keys are, in Unicode characters. */
export const NAME_LENGTH = { min: 1, max: 100 } as const;

const NAME = new RegExp(NAME_PATTERN, "u");

/**
 * Why a line of text for humans, such as a name, is refused; each continues a sentence that begins with the field's name.
 * Lengths count Unicode characters.
 */
export function nameFaults(text: string, limits: { readonly min: number; readonly max: number }): string[] {
	const faults: string[] = [];
	// A character takes at most two units, so a longer text needn't be counted.
	const length = text.length > 2 * limits.max ? text.length : [...text].length;
	if (length < limits.min) faults.push("must not be empty");
	if (length > limits.max) faults.push(`must have at most ${limits.max} characters`);
	if (!NAME.test(text)) faults.push(NAME_DETAIL);
	if (!text.isWellFormed()) faults.push("must be valid Unicode; it contains half of a surrogate pair");
	return faults;
}
