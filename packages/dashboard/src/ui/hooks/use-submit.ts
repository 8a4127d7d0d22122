import type { UseFormReturnType } from "@mantine/form";
import { useEffect, useRef, useState } from "react";
import { ApiError } from "../../api/client/error.ts";
import { faultsByField } from "../../lib/form-errors.ts";
import { useAttempt } from "./use-attempt.ts";
import { useIsMounted } from "./use-is-mounted.ts";

/**
 * Submits a form: busy meanwhile; faults in the response go to their fields. If any belongs to no field, `problem` has
 * them all, and if the form was closed, a notification. The first field with a fault gets the focus; if it had it before,
 * its `fault` is to be announced.
 */
export function useSubmit<Values extends object>(
	form: Pick<UseFormReturnType<Values>, "onSubmit" | "setErrors" | "getValues">,
	send: (values: Values) => Promise<unknown>,
) {
	const { busy, problem, attempt } = useAttempt();
	const isMounted = useIsMounted();
	const ref = useRef<HTMLFormElement>(null);
	const [refusals, setRefusals] = useState(0);
	const [fault, setFault] = useState("");
	// The field may be out of sight, far above the button.
	useEffect(() => {
		if (refusals === 0) return;
		const field = ref.current?.querySelector<HTMLElement>('[aria-invalid="true"]');
		// Screen readers read a field's fault when it gets the focus. If it has the focus, they don't.
		setFault(
			field === document.activeElement ? (document.getElementById(`${field?.id}-error`)?.textContent ?? "") : "",
		);
		field?.focus();
	}, [refusals]);
	const refuse = () => {
		// So that it is announced again if it is the same.
		setFault("");
		setRefusals((count) => count + 1);
	};
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
				refuse();
			}
		});
	return { busy, problem, fault, formProps: { ref, onSubmit: form.onSubmit(submit, refuse), noValidate: true } };
}
