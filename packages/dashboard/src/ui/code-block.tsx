import { Box } from "@mantine/core";
import { inertText } from "../lib/text/inert-text.ts";
import classes from "./code-block.module.css";
import { Copy } from "./copy.tsx";

interface CodeBlockProps {
	code: string;
	/** Names the content, for the copy button and for screen readers. */
	label: string;
	/** Breaks long lines instead of scrolling. */
	wrap?: boolean;
}

/** Code, inert, with a copy button for exactly that code; scrolls if it is too wide. */
export function CodeBlock({ code, label, wrap = false }: CodeBlockProps) {
	return (
		<div className={classes.frame}>
			<Box component="pre" className={classes.code} data-wrap={wrap || undefined} tabIndex={0} aria-label={label}>
				{inertText(code)}
			</Box>
			<div className={classes.copy}>
				<Copy text={code} label={`Copy ${label}`} />
			</div>
		</div>
	);
}
