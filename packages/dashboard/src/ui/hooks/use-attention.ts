import { type FocusEvent, type PointerEvent, useState } from "react";

/** Whether someone points at something in an element or has the focus in it. Spread `props` on the element. */
export function useAttention() {
	const [pointed, setPointed] = useState(false);
	const [focused, setFocused] = useState(false);
	return {
		isHeld: pointed || focused,
		props: {
			// A finger leaves no pointer behind.
			onPointerEnter: ({ pointerType }: PointerEvent) => setPointed(pointerType === "mouse"),
			// A pointer that rested there before the element came has moved into it, too.
			onPointerMove: ({ pointerType }: PointerEvent) => setPointed(pointerType === "mouse"),
			onPointerLeave: () => setPointed(false),
			onFocus: () => setFocused(true),
			onBlur: ({ currentTarget, relatedTarget }: FocusEvent) => setFocused(currentTarget.contains(relatedTarget)),
		},
	};
}
