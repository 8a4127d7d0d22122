/** Up to two initials of a name: of its first and last word. `?` if it has no letter or digit. */
export function initials(name: string): string {
	const words = name.match(/[\p{L}\p{N}][^\s]*/gu) ?? [];
	const first = words[0];
	const last = words.length > 1 ? words.at(-1) : undefined;
	if (first === undefined) return "?";
	return [first, last].map((word) => (word === undefined ? "" : [...word][0]!.toUpperCase())).join("");
}
