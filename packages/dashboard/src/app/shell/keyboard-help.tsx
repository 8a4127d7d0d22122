import { Kbd, Table, Text } from "@mantine/core";
import { Dialog } from "../../ui/dialog.tsx";
import { useShortcuts } from "../../ui/hooks/use-shortcuts.ts";

const KEYS = [
	{ keys: ["/"], does: "Search" },
	{ keys: ["j"], does: "Next row" },
	{ keys: ["k"], does: "Previous row" },
	{ keys: ["Enter"], does: "Open the selected row" },
	{ keys: ["r"], does: "Retry the selected or open delivery now, or replay it" },
	{ keys: ["c"], does: "Copy its request as a curl command" },
	{ keys: ["Esc"], does: "Close the open panel or dialog" },
	{ keys: ["?"], does: "This help" },
] as const;

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
	useShortcuts({ "?": onOpen });
	return (
		<Dialog opened={opened} onClose={onClose} title="Keyboard">
			<Text size="sm" c="dimmed" mb="sm">
				Shortcuts are off while you type in a field.
			</Text>
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
