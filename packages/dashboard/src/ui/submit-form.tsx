import { Button, Group, Stack, VisuallyHidden } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import type { ReactNode } from "react";
import { useSubmit } from "./hooks/use-submit.ts";
import { ErrorState } from "./page/states.tsx";
import classes from "./submit-form.module.css";

interface FormButtonsProps {
	/** The verb on the button. */
	action: string;
	busy: boolean;
	/** Why the last attempt failed; null if it didn't. */
	problem: unknown;
	/** Whether there is something to send. */
	ready?: boolean;
	/** Red, for destructive actions. */
	danger?: boolean;
	onCancel?: (() => void) | undefined;
	/** The word on the button that calls `onCancel`; by default, Cancel. */
	cancel?: string | undefined;
	/** Undoes what was typed. */
	onDiscard?: (() => void) | undefined;
	/** The button that has the focus at first. */
	focus?: "cancel" | "action";
}

/** The end of a form: why it failed, the way out, and the button that submits it. */
export function FormButtons(props: FormButtonsProps) {
	const { action, busy, problem, ready = true, danger = false, onCancel, cancel = "Cancel", onDiscard, focus } = props;
	// Disabled in the browser's sense, a button would lose the focus once the form is saved.
	const idle = ready ? {} : { "aria-disabled": true, "data-disabled": true };
	return (
		<>
			{problem === null ? null : <ErrorState error={problem} />}
			<Group className={classes.buttons} justify="flex-end" gap="xs">
				{onCancel === undefined ? null : (
					<Button variant="default" onClick={onCancel} data-autofocus={focus === "cancel" || undefined}>
						{cancel}
					</Button>
				)}
				{onDiscard === undefined ? null : (
					<Button variant="default" {...idle} disabled={busy} onClick={ready ? onDiscard : undefined}>
						Discard
					</Button>
				)}
				<Button
					type="submit"
					{...(danger ? { color: "red" } : {})}
					loading={busy}
					{...idle}
					// Enter in a field clicks it, too.
					onClick={ready ? undefined : (event) => event.preventDefault()}
					data-autofocus={focus === "action" || undefined}
				>
					{action}
				</Button>
			</Group>
		</>
	);
}

interface SubmitFormProps<Values extends object> extends Omit<FormButtonsProps, "busy" | "problem"> {
	form: Pick<UseFormReturnType<Values>, "onSubmit" | "setErrors" | "getValues">;
	/** Faults in its error go to their fields. */
	send: (values: Values) => Promise<unknown>;
	/** Between the fields. */
	gap?: "md" | "lg";
	/** For users who may only look: no buttons. */
	readOnly?: boolean;
	/** Its one button is as wide as the form. */
	wide?: boolean;
	children: ReactNode;
}

/** A form with its fields, and its buttons below them. */
export function SubmitForm<Values extends object>(props: SubmitFormProps<Values>) {
	const { form, send, gap = "md", readOnly = false, wide = false, children, ...buttons } = props;
	const { busy, problem, fault, formProps } = useSubmit(form, send);
	return (
		<form {...formProps}>
			<Stack gap={gap}>
				{children}
				<VisuallyHidden aria-live="assertive">{fault}</VisuallyHidden>
				{readOnly ? null : wide ? (
					<>
						{problem === null ? null : <ErrorState error={problem} />}
						<Button type="submit" loading={busy} fullWidth mt="xs">
							{buttons.action}
						</Button>
					</>
				) : (
					<FormButtons {...buttons} busy={busy} problem={problem} />
				)}
			</Stack>
		</form>
	);
}
