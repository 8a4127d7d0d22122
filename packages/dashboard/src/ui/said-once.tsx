import { VisuallyHidden } from "@mantine/core";
import { useState } from "react";

/** Text that a live region announces when it appears, but not each time that it changes. */
export function SaidOnce({ children }: { children: string }) {
	const [first] = useState(children);
	return <span aria-live={children === first ? undefined : "off"}>{children}</span>;
}

interface SaidOnChangeProps {
	/** Identifies what the text is about: with another one, the same text is announced again. */
	of: string;
	/** Null until it is known. */
	children: string | null;
}

/** Announces a text whenever it changes, but not the first one, which comes with what contains it. Invisible. */
export function SaidOnChange({ of, children }: SaidOnChangeProps) {
	const text = children === null ? null : `${of} ${children}`;
	const [first, setFirst] = useState(text);
	const [hasChanged, setHasChanged] = useState(false);
	if (first === null && text !== null) setFirst(text);
	if (first !== null && text !== null && text !== first && !hasChanged) setHasChanged(true);
	return <VisuallyHidden aria-live="polite">{hasChanged ? <span key={of}>{children}</span> : null}</VisuallyHidden>;
}
