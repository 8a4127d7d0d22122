import { replayMatching } from "../../api/deliveries.ts";
import { isolated } from "../../lib/text/names.ts";
import { ActOnMatching } from "../../ui/deliveries/act-on-matching.tsx";
import { ReplayPreview, replayAction } from "../../ui/deliveries/replay-preview.tsx";
import { Dialog } from "../../ui/dialog.tsx";

interface ReplayDialogProps {
	projectId: string;
	webhookId: string;
	/** The webhook's display name. */
	name: string;
	/** Only those that failed at this time or later, in ISO 8601. */
	since?: string;
	opened: boolean;
	onClose: () => void;
}

/** Sends everything again that failed for good: counts first, and shows its progress while it runs. */
export function ReplayDialog({ projectId, webhookId, name, since, opened, onClose }: ReplayDialogProps) {
	const filter = { webhook_id: [webhookId], status: ["failed"], ...(since !== undefined && { since }) } as const;
	return (
		<Dialog opened={opened} onClose={onClose} title="Replay failed deliveries" size="lg" closeOnClickOutside={false}>
			<ActOnMatching
				projectId={projectId}
				filter={filter}
				action={replayAction((options) => replayMatching(projectId, filter, options))}
				preview={(counted) => <ReplayPreview counted={counted} nameOf={() => name} isSentTwice={false} />}
				none={`There are no failed deliveries to ${isolated(name)}.`}
				onClose={onClose}
			/>
		</Dialog>
	);
}
