/** A text of at most `length` characters, with an ellipsis if it was longer. Counts characters, so that none is cut in two. */
export function cutEnd(text: string, length: number): string {
	const characters = [...text];
	return characters.length <= length ? text : `${characters.slice(0, length).join("").trimEnd()}…`;
}

/** The first and the last characters of a text, with an ellipsis for those between. Characters, as for {@link cutEnd}. */
export function cutMiddle(text: string, first: number, last: number): string {
	const characters = [...text];
	if (characters.length <= first + last + 1) return text;
	return `${characters.slice(0, first).join("")}…${characters.slice(-last).join("")}`;
}
