import { useNavigate } from "@tanstack/react-router";
import { createProject } from "../../api/projects.ts";
import { NameForm } from "../../ui/account/name-form.tsx";
import { Dialog } from "../../ui/dialog.tsx";

export function NewProjectDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
	const navigate = useNavigate();
	return (
		<Dialog opened={opened} onClose={onClose} title="New project">
			<NameForm
				label="Name"
				description="The store's display name. You can change it later."
				action="Create project"
				onCancel={onClose}
				onSend={async (name) => {
					const { id } = await createProject(name);
					onClose();
					await navigate({ to: "/p/$projectId", params: { projectId: id } });
				}}
			/>
		</Dialog>
	);
}
