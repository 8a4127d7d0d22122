import { useState } from "react";

/** Text that a live region announces when it appears, but not each time that it changes. */
export function SaidOnce({ children }: { children: string }) {
	const [first] = useState(children);
	return <span aria-live={children === first ? undefined : "off"}>{children}</span>;
}
