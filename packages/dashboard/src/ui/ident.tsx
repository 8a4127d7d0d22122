import { shortId } from "../lib/text/ids.ts";
import { Copy } from "./copy.tsx";
import classes from "./ident.module.css";

interface IdentProps {
	id: string;
	/** The whole id instead of its two ends. */
	full?: boolean;
	/** Without the copy button, for dense rows. */
	noCopy?: boolean;
}

/** An id in monospace, shortened in the middle; the title and the copy button have all of it. */
export function Ident({ id, full = false, noCopy = false }: IdentProps) {
	return (
		<span className={classes.ident}>
			<code className={classes.code} data-full={full || undefined} title={id}>
				{full ? id : shortId(id)}
			</code>
			{noCopy ? null : <Copy text={id} label="Copy id" size="xs" />}
		</span>
	);
}

/** Code within a sentence: names of event types, headers, prefixes. */
export const Code = ({ children }: { children: string }) => <code className={classes.code}>{children}</code>;
