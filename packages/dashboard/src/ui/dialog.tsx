import { Modal, type ModalProps } from "@mantine/core";
import { useEffect } from "react";
import { claimKeys, useIsClaimed } from "./hooks/key-claims.ts";
import { useFocusBack } from "./hooks/use-focus-back.ts";

const KEYS = ["Escape"] as const;

/** A dialog that keeps the focus inside, and returns it to what opened it. */
export function Dialog({ children, ...props }: ModalProps) {
	return (
		<Modal {...props}>
			<Opened />
			{children}
		</Modal>
	);
}

function Opened() {
	useFocusBack();
	useEffect(() => {
		const release = claimKeys(KEYS);
		// The key that closes it must not close what it covered, too.
		return () => void setTimeout(release);
	}, []);
	return null;
}

/** Whether a dialog is open. It may cover a drawer, which then leaves the keyboard to it. */
export const useIsDialogOpen = (): boolean => useIsClaimed("Escape");
