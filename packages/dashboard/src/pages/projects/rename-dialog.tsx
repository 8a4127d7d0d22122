import { renameProject } from "../../api/projects.ts";
import { isolated } from "../../lib/text/names.ts";
import { NameForm } from "../../ui/account/name-form.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { useIsMounted } from "../../ui/hooks/use-is-mounted.ts";
import { notifyDone } from "../../ui/notify.tsx";

interface RenameDialogProps {
	project: { readonly id: string; readonly name: string };
	onClose: () => void;
}

export function RenameDialog({ project, onClose }: RenameDialogProps) {
	const isMounted = useIsMounted();
	return (
		<Dialog opened onClose={onClose} title={`Rename ${isolated(project.name)}`}>
			<NameForm
				label="Name"
				initial={project.name}
				action="Rename"
				onCancel={onClose}
				onSend={async (name) => {
					await renameProject(project.id, name);
					notifyDone(`The project is now called ${isolated(name)}.`);
					// Otherwise, that of another project may be open by now.
					if (isMounted()) onClose();
				}}
			/>
		</Dialog>
	);
}
