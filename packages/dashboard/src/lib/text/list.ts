const listEndingWith = (last: string) => (words: readonly string[]) =>
	words.length < 2 ? (words[0] ?? "") : `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1)}`;

/** `a`, `a and b`, `a, b and c`; "" for no words. */
export const listWithAnd = listEndingWith("and");

/** `a`, `a or b`, `a, b or c`; "" for no words. */
export const listWithOr = listEndingWith("or");
