import { Modal } from "@mantine/core";
import { useSession } from "../../api/session.ts";
import { plural } from "../../lib/numbers.ts";
import { newSeriesWords } from "../../lib/track.ts";
import { ReplayMatching } from "../../ui/replay-matching.tsx";

interface ReplayDialogProps {
	projectId: string;
	webhookId: string;
	/** The webhook's display name. */
	name: string;
	opened: boolean;
	onClose: () => void;
}

/** Sends everything again that failed for good: counts first, and shows its progress while it runs. */
export function ReplayDialog({ projectId, webhookId, name, opened, onClose }: ReplayDialogProps) {
	const plan = useSession();
	return (
		<Modal opened={opened} onClose={onClose} title="Replay failed deliveries" closeOnClickOutside={false}>
			<ReplayMatching
				projectId={projectId}
				filter={{ webhook_id: webhookId, status: "failed" }}
				countOf={(count) => plural(count, "event")}
				none={`There are no failed deliveries to ${name}.`}
				say={(total) =>
					`${plural(total, "event")} failed for good. A replay sends ${total === 1 ? "it" : "them, oldest first,"} to ${name} again, with ${newSeriesWords(plan)} each, under the same event id, so receivers can recognize duplicates.`
				}
				onClose={onClose}
			/>
		</Modal>
	);
}
