import { Radio, Stack, Text } from "@mantine/core";
import { useState } from "react";
import type { Health } from "../../api/health.ts";
import { changeWebhook, type ResumeFrom, type Webhook } from "../../api/webhooks.ts";
import { pendingOf, pendingWords } from "../../lib/attempts/pending.ts";
import { webhookName } from "../../lib/health/webhook-name.ts";
import { isolated } from "../../lib/text/names.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { notifyDone } from "../../ui/notify.tsx";

interface StateDialogProps {
	projectId: string;
	webhook: Webhook;
	opened: boolean;
	onClose: () => void;
}

interface ResumeDialogProps extends StateDialogProps {
	/** Undefined until it is known. */
	health: Health | undefined;
}

/** Resumes a paused webhook, with or without its backlog. */
export function ResumeDialog({ projectId, webhook, health, opened, onClose }: ResumeDialogProps) {
	const [from, setFrom] = useState<ResumeFrom>("backlog");
	const waiting = pendingOf(health);
	const one = waiting.total === 1;
	const resume = async () => {
		await changeWebhook(projectId, webhook.id, { status: "active", from: waiting.total === 0 ? "backlog" : from });
		notifyDone(`${isolated(webhookName(webhook))} is active again.`);
	};
	return (
		<Confirm
			opened={opened}
			onClose={onClose}
			title={`Resume ${isolated(webhookName(webhook))}`}
			action="Resume"
			onConfirm={resume}
			ready={health !== undefined}
		>
			{health === undefined ? (
				<Text size="sm">Still loading what's waiting for it.</Text>
			) : waiting.total === 0 ? (
				<Text size="sm">Nothing is waiting. Events are sent again from now on.</Text>
			) : (
				<Radio.Group
					label={`${pendingWords(waiting)} ${one ? "is" : "are"} waiting. What should happen to ${one ? "it" : "them"}?`}
					value={from}
					onChange={(value) => setFrom(value === "now" ? "now" : "backlog")}
				>
					<Stack gap="sm" mt="sm">
						<Radio
							value="backlog"
							label={`Send ${one ? "it" : "them"}`}
							description={`Sends ${one ? "it" : "them, first attempts in order"}, and then new events.`}
						/>
						<Radio
							value="now"
							label={`Skip ${one ? "it" : "them"}`}
							description={`Only sends new events. ${pendingWords(waiting)} won't be sent to this webhook.${waiting.again === 0 ? "" : " Skipped retries fail when they are due, and can then be replayed."}`}
						/>
					</Stack>
				</Radio.Group>
			)}
		</Confirm>
	);
}

/** Pauses a webhook. */
export function PauseDialog({ projectId, webhook, opened, onClose }: StateDialogProps) {
	const pause = async () => {
		await changeWebhook(projectId, webhook.id, { status: "paused" });
		notifyDone(`${isolated(webhookName(webhook))} is paused.`);
	};
	return (
		<Confirm
			opened={opened}
			onClose={onClose}
			title={`Pause ${isolated(webhookName(webhook))}`}
			action="Pause"
			onConfirm={pause}
		>
			Nothing is sent until you resume it. Events and retries wait until their retention ends, and then fail. Webhooks
			are never paused automatically, even if they fail.
		</Confirm>
	);
}
