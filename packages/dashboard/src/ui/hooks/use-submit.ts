import type { UseFormReturnType } from "@mantine/form";
import { ApiError } from "../../api/client/error.ts";
import { faultsByField } from "../../lib/form-errors.ts";
import { useAttempt } from "./use-attempt.ts";

/**
 * Submits a form: busy meanwhile; faults in the response go to their fields, and any that belong to no field are in
 * `problem`.
 */
export function useSubmit<Values extends object>(
	form: Pick<UseFormReturnType<Values>, "setErrors" | "getValues">,
	send: (values: Values) => Promise<unknown>,
) {
	const { busy, problem, attempt } = useAttempt();
	const submit = (values: Values) =>
		attempt(async () => {
			try {
				await send(values);
			} catch (error) {
				const faults = error instanceof ApiError ? faultsByField(error.errors) : {};
				form.setErrors(faults);
				if (!Object.keys(faults).some((field) => field in form.getValues())) throw error;
			}
		});
	return { busy, problem, submit };
}
