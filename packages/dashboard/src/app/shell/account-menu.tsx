import { Menu, Text, UnstyledButton } from "@mantine/core";
import { IconKeyboard, IconLogout, IconUser } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { signOut, useSession } from "../../api/session.ts";
import { Initials } from "../../ui/account/initials.tsx";
import { notifyProblem } from "../../ui/notify.tsx";

/** The signed-in account and its menu. */
export function AccountMenu({ onHelp }: { onHelp: () => void }) {
	const { account } = useSession();
	return (
		<Menu position="bottom-end" width={240} shadow="md">
			<Menu.Target>
				<UnstyledButton aria-label={`Account of ${account.name}`} style={{ borderRadius: "50%" }}>
					<Initials name={account.name} size={32} />
				</UnstyledButton>
			</Menu.Target>
			<Menu.Dropdown>
				<div style={{ padding: "8px 12px" }}>
					<Text size="sm" fw={600} truncate>
						{account.name}
					</Text>
					<Text size="xs" c="dimmed" truncate>
						{account.email}
						{account.operator ? " · operator" : ""}
					</Text>
				</div>
				<Menu.Divider />
				<Menu.Item component={Link} to="/account" leftSection={<IconUser size={16} aria-hidden />}>
					Account
				</Menu.Item>
				<Menu.Item onClick={onHelp} leftSection={<IconKeyboard size={16} aria-hidden />}>
					Keyboard
				</Menu.Item>
				<Menu.Divider />
				<Menu.Item onClick={() => void leave()} leftSection={<IconLogout size={16} aria-hidden />}>
					Sign out
				</Menu.Item>
			</Menu.Dropdown>
		</Menu>
	);
}

/** Signs out and reloads the page, so that no data stays in memory. */
async function leave(): Promise<void> {
	try {
		await signOut();
		window.location.assign("/sign-in");
	} catch (error) {
		notifyProblem(error);
	}
}
