import { type DrawerProps, Drawer as LibraryDrawer } from "@mantine/core";
import { useOverlay } from "./hooks/use-overlay.ts";

/** A drawer. A dialog above it has the keyboard. */
export function Drawer(props: DrawerProps) {
	useOverlay("drawer", props.opened, props.onClose);
	return <LibraryDrawer {...props} closeOnEscape={false} />;
}
