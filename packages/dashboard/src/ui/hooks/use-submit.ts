import type { UseFormReturnType } from "@mantine/form";
import { useState } from "react";
import { ApiError } from "../../api/client/error.ts";
import { faultsByField } from "../../lib/form-errors.ts";

/**
 * Submits a form: busy meanwhile; faults in the response go to their fields, and any that belong to no field are in
 * `problem`.
 */
export function useSubmit<Values extends object>(
	form: Pick<UseFormReturnType<Values>, "setErrors" | "getValues">,
	send: (values: Values) => Promise<unknown>,
) {
	const [busy, setBusy] = useState(false);
	const [problem, setProblem] = useState<unknown>(null);
	const submit = async (values: Values) => {
		setBusy(true);
		setProblem(null);
		try {
			await send(values);
		} catch (error) {
			const faults = error instanceof ApiError ? faultsByField(error.errors) : {};
			form.setErrors(faults);
			const known = Object.keys(faults).filter((field) => field in form.getValues());
			if (known.length === 0) setProblem(error);
		} finally {
			setBusy(false);
		}
	};
	return { busy, problem, submit };
}
