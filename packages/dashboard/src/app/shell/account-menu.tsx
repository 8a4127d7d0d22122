import { Menu, Text, UnstyledButton } from "@mantine/core";
import { IconKeyboard, IconLogout, IconUser } from "@tabler/icons-react";
import { Link, useRouter } from "@tanstack/react-router";
import { useState } from "react";
import { signOut, useSession } from "../../api/session.ts";
import { Initials } from "../../ui/account/initials.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { isGuarded } from "../../ui/leave-guard.tsx";
import { notifyProblem } from "../../ui/notify.tsx";

/** The signed-in account and its menu. */
export function AccountMenu({ onHelp }: { onHelp: () => void }) {
	const { account } = useSession();
	const router = useRouter();
	const [asking, setAsking] = useState(false);
	/** Signs out and reloads the page, so that no data stays in memory. */
	const leave = async () => {
		await signOut();
		// Without the page, nothing that is unsaved stops the browser.
		await router.navigate({ to: "/sign-in", ignoreBlocker: true });
		window.location.assign("/sign-in");
	};
	return (
		<>
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
					<Menu.Item
						onClick={() => (isGuarded() ? setAsking(true) : void leave().catch(notifyProblem))}
						leftSection={<IconLogout size={16} aria-hidden />}
					>
						Sign out
					</Menu.Item>
				</Menu.Dropdown>
			</Menu>
			<Confirm
				opened={asking}
				onClose={() => setAsking(false)}
				title="Discard your changes?"
				action="Discard and sign out"
				danger
				onConfirm={leave}
			>
				This page has unsaved changes.
			</Confirm>
		</>
	);
}
