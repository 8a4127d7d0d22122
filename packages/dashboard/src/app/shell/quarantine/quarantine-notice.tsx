import { Alert, Button, Text } from "@mantine/core";
import { IconPlayerPause } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { quarantineQuery } from "../../../api/quarantine.ts";
import { useSession } from "../../../api/session.ts";
import { part } from "../../../lib/part.ts";
import { BackupTime } from "./backup-time.tsx";

const ReleaseDialog = lazy(part(() => import("./release-dialog.tsx")));

/** Says why nothing is delivered, above every page: the service was restored from a backup. The operator releases it. */
export function QuarantineNotice() {
	const { quarantine } = useSession();
	return quarantine ? <Notice /> : null;
}

function Notice() {
	const { account, projects } = useSession();
	const { data } = useQuery(quarantineQuery);
	const [releasing, setReleasing] = useState(false);
	const backupAt = data?.backup_at ?? null;
	const mayRevoke = account.operator || projects.some(({ role }) => role === "owner");
	return (
		<Alert
			role="status"
			mb="lg"
			color="yellow"
			variant="light"
			icon={<IconPlayerPause size={18} aria-hidden />}
			title="Nothing is being delivered"
			styles={{ root: { background: "var(--ph-retrying-tint)" }, title: { color: "var(--ph-text)" } }}
		>
			<Text size="sm">
				This service was restored from a backup
				<BackupTime at={backupAt} />. Events are accepted and logged, and will be sent once its operator releases it.
			</Text>
			{mayRevoke ? (
				<Text size="sm" mt={4}>
					Access is as of the backup, too: revoked API keys, removed members and rotated secrets are back. Repeat what
					was revoked, removed or rotated since.
				</Text>
			) : null}
			{account.operator ? (
				<Button mt="sm" size="xs" onClick={() => setReleasing(true)}>
					Review and release
				</Button>
			) : null}
			{releasing ? (
				<Suspense fallback={null}>
					<ReleaseDialog backupAt={backupAt} onClose={() => setReleasing(false)} />
				</Suspense>
			) : null}
		</Alert>
	);
}
