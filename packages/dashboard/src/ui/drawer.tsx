import { type DrawerProps, Drawer as LibraryDrawer } from "@mantine/core";
import { useOverlay } from "./hooks/use-overlay.ts";

/** Attributes of the library's dialogs and drawers: their header isn't the page's banner. */
export const plainHeader = { header: { role: "presentation" } };

/** A drawer. A dialog above it has the keyboard. */
export function Drawer(props: DrawerProps) {
	useOverlay("drawer", props.opened, props.onClose);
	return <LibraryDrawer {...props} closeOnEscape={false} />;
}
