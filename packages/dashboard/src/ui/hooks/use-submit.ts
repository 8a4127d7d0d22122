import type { UseFormReturnType } from "@mantine/form";
import { ApiError } from "../../api/client/error.ts";
import { faultsByField } from "../../lib/form-errors.ts";
import { useAttempt } from "./use-attempt.ts";
import { useIsMounted } from "./use-is-mounted.ts";

/**
 * Submits a form: busy meanwhile; faults in the response go to their fields. If any belongs to no field, `problem` has
 * them all, and if the form was closed, a notification.
 */
export function useSubmit<Values extends object>(
	form: Pick<UseFormReturnType<Values>, "setErrors" | "getValues">,
	send: (values: Values) => Promise<unknown>,
) {
	const { busy, problem, attempt } = useAttempt();
	const isMounted = useIsMounted();
	const submit = (values: Values) =>
		attempt(async () => {
			try {
				await send(values);
			} catch (error) {
				const faults = error instanceof ApiError ? faultsByField(error.errors) : {};
				form.setErrors(faults);
				const fields = Object.keys(faults);
				const areShown = isMounted() && fields.length > 0 && fields.every((field) => field in form.getValues());
				if (!areShown) throw error;
			}
		});
	return { busy, problem, submit };
}
