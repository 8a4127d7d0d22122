import { shortId } from "../lib/ids.ts";
import { Copy } from "./copy.tsx";
import classes from "./ident.module.css";

interface IdentProps {
	id: string;
	/** The whole id rather than its two ends. */
	full?: boolean;
	/** Without the button that copies it, where rows are dense. */
	noCopy?: boolean;
}

/** An id in monospace, shortened in the middle; the whole one is in its title and is what gets copied. */
export function Ident({ id, full = false, noCopy = false }: IdentProps) {
	return (
		<span className={classes.ident}>
			<code className={classes.code} title={id}>
				{full ? id : shortId(id)}
			</code>
			{noCopy ? null : <Copy text={id} label="Copy id" size="xs" />}
		</span>
	);
}

/** Text of programs within a sentence: names of event types, headers, prefixes. */
export const Code = ({ children }: { children: string }) => <code className={classes.code}>{children}</code>;
