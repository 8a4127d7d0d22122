/**
 * Whether a character is invisible or changes how others are displayed: control characters, bidirectional and
 * zero-width marks, tags (Unicode categories Cc and Cf), line and paragraph separators. Excluded are line feeds, tabs,
 * and the two joiners that emoji and the scripts of Persia and India need.
 */
const HIDDEN = /(?![\u200C\u200D])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

const PICTURES = 0x2400;
const DELETE_PICTURE = "␡";

function picture(character: string): string {
	if (character === "\n" || character === "\t") return character;
	const code = character.codePointAt(0) ?? 0;
	if (code < 0x20) return String.fromCodePoint(PICTURES + code);
	if (code === 0x7f) return DELETE_PICTURE;
	return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

/**
 * Untrusted text, made safe to display: hidden characters appear as symbols (`␀`, `␛`, `⟨U+202E⟩`). A line that ends
 * with CR LF appears as a plain line.
 */
export const inertText = (text: string) => text.replaceAll("\r\n", "\n").replace(HIDDEN, picture);
