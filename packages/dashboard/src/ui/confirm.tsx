import { Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { Dialog } from "./dialog.tsx";
import { useAttempt } from "./hooks/use-attempt.ts";
import { useIsMounted } from "./hooks/use-is-mounted.ts";
import { FormButtons } from "./submit-form.tsx";

interface ConfirmProps {
	opened: boolean;
	onClose: () => void;
	title: string;
	/** What will happen, and what can't be undone. */
	children: ReactNode;
	/** The verb on the button: "Revoke key". */
	action: string;
	/** The word on the button that closes the dialog; by default, Cancel. */
	cancel?: string;
	/** Runs the action; the dialog closes when it is done, or shows the error if it fails. */
	onConfirm: () => Promise<unknown>;
	/** Called instead of `onClose` when it is done, unless the dialog was closed meanwhile. */
	onDone?: () => void;
	/** Red, for destructive actions. */
	danger?: boolean;
	/** Whether the action is enabled. */
	ready?: boolean;
	/** The button that has the focus at first; by default, Cancel. */
	focus?: "cancel" | "action";
	/** By default, medium. */
	size?: "lg" | "xl";
}

/**
 * Asks for confirmation before something that can't be undone. Of the actions on deliveries, these ask wherever they are
 * offered, whether they are about one delivery or many:
 *
 * - a replay, because the receiver gets an event again that it wouldn't get otherwise;
 * - a dismissal, because the delivery no longer counts as failed from then on.
 *
 * These act immediately: a retry, because the attempt would follow anyway, and cancelling a test, because another one can
 * be sent.
 */
export function Confirm(props: ConfirmProps) {
	return (
		<Dialog opened={props.opened} onClose={props.onClose} title={props.title} size={props.size ?? "md"}>
			<ConfirmBody {...props} />
		</Dialog>
	);
}

function ConfirmBody({
	onClose,
	children,
	action,
	cancel,
	onConfirm,
	onDone = onClose,
	danger = false,
	ready = true,
	focus = "cancel",
}: ConfirmProps) {
	const { busy, problem, attempt } = useAttempt();
	const isMounted = useIsMounted();
	const run = async () => {
		await onConfirm();
		// Otherwise, another dialog may be open by now.
		if (isMounted()) onDone();
	};
	return (
		<form
			onSubmit={(event) => {
				event.preventDefault();
				if (ready && !busy) void attempt(run);
			}}
		>
			<Stack>
				<Text component="div" size="sm">
					{children}
				</Text>
				<FormButtons
					action={action}
					busy={busy}
					problem={problem}
					ready={ready}
					danger={danger}
					cancel={cancel}
					onCancel={onClose}
					focus={focus}
				/>
			</Stack>
		</form>
	);
}
