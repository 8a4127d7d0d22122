import type { UseFormReturnType } from "@mantine/form";
import { useEffect, useEffectEvent, useRef } from "react";

const textOf = (value: unknown) =>
	typeof value === "string" ? value.trim() : JSON.stringify(Array.isArray(value) ? value.toSorted() : value);

/** The fields of `values` that differ from what is saved. The order of a list and space around words don't matter. */
export const changedOf = <Values extends object>(values: Values, saved: Values): Partial<Values> =>
	Object.fromEntries(
		Object.entries(values).filter(([name, value]) => textOf(value) !== textOf(saved[name as keyof Values])),
	) as Partial<Values>;

/**
 * Lets the fields of a form that weren't edited follow what someone else saves. Otherwise, saving one field would undo
 * their changes of the others.
 */
export function useFollow<Values extends Record<string, unknown>>(
	form: Pick<UseFormReturnType<Values>, "getValues" | "setValues" | "setInitialValues">,
	saved: Values,
): void {
	const base = useRef(saved);
	const follow = useEffectEvent((next: Values) => {
		const edited = changedOf(form.getValues(), base.current);
		base.current = next;
		form.setInitialValues(next);
		form.setValues({ ...next, ...edited });
	});
	const text = JSON.stringify(saved);
	useEffect(() => follow(JSON.parse(text) as Values), [text]);
}
