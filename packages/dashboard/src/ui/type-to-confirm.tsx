import { TextInput } from "@mantine/core";
import { useState } from "react";
import { isolated, lookSame, typedName } from "../lib/text/names.ts";

/** Up to this many things need nothing typed. */
const MAX_UNCONFIRMED = 100;

/**
 * Whether what must be typed was typed, and the field for it: before something large that can't be undone.
 *
 * @param given a name, or how many things are affected
 */
export function useTypeToConfirm(given: string | number) {
	const [typed, setTyped] = useState("");
	const what = typedName(String(given));
	if (typeof given === "number" && given <= MAX_UNCONFIRMED) return { isConfirmed: true, field: null };
	const isConfirmed = lookSame(typed, what);
	const field = (
		<TextInput
			label={
				<>
					Type <strong>{isolated(what)}</strong> to confirm
				</>
			}
			value={typed}
			onChange={(event) => setTyped(event.currentTarget.value)}
			autoComplete="off"
			spellCheck={false}
			inputMode={typeof given === "number" ? "numeric" : "text"}
			data-autofocus={typeof given === "string" || undefined}
		/>
	);
	return { isConfirmed, field };
}
