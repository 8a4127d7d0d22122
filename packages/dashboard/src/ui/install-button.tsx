import { Button } from "@mantine/core";
import { installDeveloperApp } from "../api/projects.ts";
import { ForRole } from "./account/for-role.tsx";
import { useAction } from "./hooks/use-action.ts";
import { notifyDone } from "./notify.tsx";

/** Installs the Developer app. */
export function InstallButton({ projectId, size = "sm" }: { projectId: string; size?: "xs" | "sm" }) {
	const { busy, run } = useAction(async () => {
		await installDeveloperApp(projectId);
		notifyDone("Developer is installed. Create your first webhook next.");
	});
	return (
		<ForRole needs="owner">
			<Button size={size} loading={busy} onClick={() => void run()}>
				Install
			</Button>
		</ForRole>
	);
}
