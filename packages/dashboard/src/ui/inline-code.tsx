import { Code } from "./ident.tsx";

/** A sentence whose parts between backticks are names from code. */
export function InlineCode({ text }: { text: string }) {
	return text.split("`").map((part, index) => {
		const key = `${index} ${part}`;
		return index % 2 === 0 ? <span key={key}>{part}</span> : <Code key={key}>{part}</Code>;
	});
}
