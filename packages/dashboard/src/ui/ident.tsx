import { shortId } from "../lib/text/ids.ts";
import { Breakable } from "./breakable.tsx";
import { Copy } from "./copy.tsx";
import classes from "./ident.module.css";

/** An id in monospace, shortened in the middle; the title and the copy button have all of it. */
export function Ident({ id }: { id: string }) {
	return (
		<span className={classes.ident}>
			<code className={classes.code} title={id}>
				{shortId(id)}
			</code>
			<Copy text={id} label="Copy id" of={shortId(id)} size="xs" />
		</span>
	);
}

/** Code within a sentence: names of event types, headers, prefixes. */
export const Code = ({ children }: { children: string }) => (
	<code className={classes.code}>
		<Breakable name={children} />
	</code>
);

/** A sentence whose parts between backticks are names from code. */
export function InlineCode({ text }: { text: string }) {
	return text.split("`").map((part, index) => {
		const key = `${index} ${part}`;
		return index % 2 === 0 ? <span key={key}>{part}</span> : <Code key={key}>{part}</Code>;
	});
}
