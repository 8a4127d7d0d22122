import { Modal, type ModalProps } from "@mantine/core";
import { useFocusBack } from "./hooks/use-focus-back.ts";

/** A dialog that keeps the focus inside, and returns it to what opened it. */
export function Dialog({ children, ...props }: ModalProps) {
	return (
		<Modal {...props}>
			<FocusBack />
			{children}
		</Modal>
	);
}

function FocusBack() {
	useFocusBack();
	return null;
}
