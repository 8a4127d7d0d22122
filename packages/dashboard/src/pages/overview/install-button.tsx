import { Button } from "@mantine/core";
import { useState } from "react";
import { api } from "../../api/client/client.ts";
import { refreshSession } from "../../api/session.ts";
import { ForRole } from "../../ui/account/for-role.tsx";
import { notifyDone, notifyProblem } from "../../ui/notify.tsx";

/** Installs the Developer app. */
export function InstallButton({ projectId }: { projectId: string }) {
	const [busy, setBusy] = useState(false);
	const install = async () => {
		setBusy(true);
		try {
			await api.put("/v1/projects/{project_id}/apps/developer", { path: { project_id: projectId } });
			await refreshSession();
			notifyDone("The Developer app is installed.");
		} catch (error) {
			notifyProblem(error);
		} finally {
			setBusy(false);
		}
	};
	return (
		<ForRole needs="owner">
			<Button size="xs" loading={busy} onClick={() => void install()}>
				Install
			</Button>
		</ForRole>
	);
}
