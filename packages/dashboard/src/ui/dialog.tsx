import { Modal, type ModalProps } from "@mantine/core";
import { useFocusBack } from "./hooks/use-focus-back.ts";
import { useOverlay } from "./hooks/use-overlay.ts";

/** A dialog that keeps the focus inside, and returns it to what opened it. */
export function Dialog({ children, closeOnEscape = true, ...props }: ModalProps) {
	useOverlay("dialog", props.opened, closeOnEscape ? props.onClose : () => {});
	return (
		<Modal {...props} closeOnEscape={false}>
			<FocusBack />
			{children}
		</Modal>
	);
}

function FocusBack() {
	useFocusBack();
	return null;
}
