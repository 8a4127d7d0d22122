import { useNavigate } from "@tanstack/react-router";
import { createProject } from "../../api/projects.ts";
import { isolated } from "../../lib/text/names.ts";
import { NameForm } from "../../ui/account/name-form.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { useIsMounted } from "../../ui/hooks/use-is-mounted.ts";
import { notifyDone } from "../../ui/notify.tsx";

export function NewProjectDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
	return (
		<Dialog opened={opened} onClose={onClose} title="New project">
			<NewProjectForm onClose={onClose} />
		</Dialog>
	);
}

function NewProjectForm({ onClose }: { onClose: () => void }) {
	const navigate = useNavigate();
	const isMounted = useIsMounted();
	return (
		<NameForm
			label="Name"
			description="The store's display name. You can change it later."
			action="Create project"
			onCancel={onClose}
			onSend={async (name) => {
				const { id } = await createProject(name);
				if (!isMounted()) return notifyDone(`${isolated(name)} is created.`);
				onClose();
				await navigate({ to: "/p/$projectId", params: { projectId: id } });
			}}
		/>
	);
}
