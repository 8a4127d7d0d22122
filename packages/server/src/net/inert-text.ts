/** Anything but visible characters and plain spaces: control and format characters, such as those that reverse text. */
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}]/gu;
const CUT = "…";

/**
 * A text from a receiver, to be stored and shown: whatever isn't visible becomes U+FFFD, and what exceeds `length`
 * characters (UTF-16 code units) is cut off.
 */
export function inertText(text: string, length: number): string {
	const clean = text
		.slice(0, length + 1)
		.replaceAll("\t", " ")
		.replace(INVISIBLE, "\ufffd");
	return clean.length <= length ? clean : clean.slice(0, length - 1).replace(/[\ud800-\udbff]$/, "") + CUT;
}
