import { Kbd, Switch, Table, Text } from "@mantine/core";
import { Dialog } from "../../ui/dialog.tsx";
import { useShortcuts } from "../../ui/hooks/use-shortcuts.ts";
import { setSingleKeys, useSingleKeys } from "../../ui/hooks/use-single-keys.ts";

const KEYS = [
	{ keys: ["/"], does: "Search" },
	{ keys: ["j"], does: "Next row, or the next delivery in an open panel" },
	{ keys: ["k"], does: "Previous row, or the previous delivery" },
	{ keys: ["Enter"], does: "Open the selected row" },
	{ keys: ["r"], does: "Retry the selected or open delivery now, or replay it" },
	{ keys: ["c"], does: "Copy its request as a curl command" },
	{ keys: ["Esc"], does: "Close the open panel or dialog" },
	{ keys: ["?"], does: "Show this help" },
] as const;

/** Drawers have the library's 200. */
const ABOVE_DRAWERS = 201;

/** The keys that work everywhere and in lists. `?` opens it. */
export function KeyboardHelp({
	opened,
	onOpen,
	onClose,
}: {
	opened: boolean;
	onOpen: () => void;
	onClose: () => void;
}) {
	useShortcuts({ "?": onOpen }, { inDrawers: true });
	const isOn = useSingleKeys();
	return (
		<Dialog opened={opened} onClose={onClose} title="Keyboard" zIndex={ABOVE_DRAWERS}>
			<Text size="sm" c="dimmed" mb="sm">
				Shortcuts are off while you type in a field.
			</Text>
			<Switch
				mb="sm"
				label="Single-key shortcuts"
				description="In this browser. Enter and Esc always work."
				checked={isOn}
				onChange={(event) => setSingleKeys(event.currentTarget.checked)}
			/>
			<Table verticalSpacing={8} withRowBorders={false} aria-label="Keys">
				<Table.Tbody>
					{KEYS.map(({ keys, does }) => (
						<Table.Tr key={does}>
							<Table.Th scope="row" w={88}>
								{keys.map((key) => (
									<Kbd key={key}>{key}</Kbd>
								))}
							</Table.Th>
							<Table.Td>{does}</Table.Td>
						</Table.Tr>
					))}
				</Table.Tbody>
			</Table>
		</Dialog>
	);
}
