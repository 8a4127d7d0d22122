import { Button, Group, Stack, Text } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { Dialog } from "./dialog.tsx";
import { ErrorState } from "./page/states.tsx";
import { useTypeToConfirm } from "./type-to-confirm.tsx";

interface ConfirmProps {
	opened: boolean;
	onClose: () => void;
	title: string;
	/** What will happen, and what can't be undone. */
	children: ReactNode;
	/** The verb on the button: "Revoke key". */
	action: string;
	/** Runs the action; the dialog closes when it is done, or shows the error if it fails. */
	onConfirm: () => Promise<unknown>;
	/** Red, for destructive actions. */
	danger?: boolean;
	/** Whether the action is enabled. */
	ready?: boolean;
	/** By default, medium. */
	size?: "lg" | "xl";
}

/** Asks for confirmation before something that can't be undone. */
export function Confirm(props: ConfirmProps) {
	return (
		<Dialog opened={props.opened} onClose={props.onClose} title={props.title} size={props.size ?? "md"}>
			<ConfirmBody {...props} />
		</Dialog>
	);
}

function ConfirmBody({ onClose, children, action, onConfirm, danger = false, ready = true }: ConfirmProps) {
	const [busy, setBusy] = useState(false);
	const [error, setError] = useState<unknown>(null);
	const run = async () => {
		setBusy(true);
		setError(null);
		try {
			await onConfirm();
			onClose();
		} catch (problem) {
			setError(problem);
		} finally {
			setBusy(false);
		}
	};
	return (
		<form
			onSubmit={(event) => {
				event.preventDefault();
				if (ready && !busy) void run();
			}}
		>
			<Stack>
				<Text component="div" size="sm">
					{children}
				</Text>
				{error === null ? null : <ErrorState error={error} />}
				<Group justify="flex-end" gap="xs">
					<Button variant="default" onClick={onClose} data-autofocus>
						Cancel
					</Button>
					<Button type="submit" {...(danger ? { color: "red" } : {})} loading={busy} disabled={!ready}>
						{action}
					</Button>
				</Group>
			</Stack>
		</form>
	);
}

/** Asks the user to type the name of what will be deleted, so that nothing large is deleted by accident. */
export function ConfirmByName({ name, children, ...props }: Omit<ConfirmProps, "ready" | "danger"> & { name: string }) {
	const { isConfirmed, field } = useTypeToConfirm(name);
	return (
		<Confirm {...props} danger ready={isConfirmed}>
			<Stack gap="sm">
				<div>{children}</div>
				{field}
			</Stack>
		</Confirm>
	);
}
