import { Text } from "@mantine/core";
import { removeDeveloperApp } from "../../api/projects.ts";
import { useProject } from "../../api/session.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { notifyDone } from "../../ui/notify.tsx";

/** Explains what removing the app does, and asks first. */
export function RemoveDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
	const { id } = useProject();
	const remove = async () => {
		await removeDeveloperApp(id);
		notifyDone("Developer was removed, and all webhooks are paused.");
	};
	return (
		<Confirm
			opened={opened}
			onClose={onClose}
			title="Remove Developer?"
			action="Remove and pause"
			danger
			onConfirm={remove}
		>
			<Text size="sm">
				<strong>All webhooks of this project will be paused</strong>, and nothing is sent. Webhooks, API Keys and Logs
				disappear from the menu.
			</Text>
			<Text size="sm" mt="xs">
				Nothing is deleted. To continue, install Developer again and resume the webhooks. Events and retries wait until
				their retention ends, and then fail.
			</Text>
		</Confirm>
	);
}
