import { Radio, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { changeWebhook, type ResumeFrom, type Webhook } from "../../api/webhooks.ts";
import { webhookName } from "../../lib/health.ts";
import { plural } from "../../lib/numbers.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { notifyDone } from "../../ui/notify.tsx";

interface StateDialogProps {
	projectId: string;
	webhook: Webhook;
	opened: boolean;
	onClose: () => void;
}

/** Resumes a paused webhook, with or without its backlog. */
export function ResumeDialog({ projectId, webhook, opened, onClose }: StateDialogProps) {
	const [from, setFrom] = useState<ResumeFrom>("backlog");
	const waiting = webhook.backlog.events;
	const [events, wait] = [plural(waiting, "event"), waiting === 1 ? "waits" : "wait"];
	const resume = async () => {
		await changeWebhook(projectId, webhook.id, { status: "active", from: waiting === 0 ? "backlog" : from });
		notifyDone(`${webhookName(webhook)} is active again.`);
	};
	return (
		<Confirm
			opened={opened}
			onClose={onClose}
			title={`Resume ${webhookName(webhook)}`}
			action="Resume"
			onConfirm={resume}
		>
			{waiting === 0 ? (
				<Text size="sm">Nothing is waiting. Events are sent again from now on.</Text>
			) : (
				<Radio.Group
					label={`${events} ${wait}. What about ${waiting === 1 ? "it" : "them"}?`}
					value={from}
					onChange={(value) => setFrom(value === "now" ? "now" : "backlog")}
				>
					<Stack gap="sm" mt="sm">
						<Radio
							value="backlog"
							label={`Send ${waiting === 1 ? "it" : "them"}`}
							description={`Sends the ${events} in order, and then new events.`}
						/>
						<Radio
							value="now"
							label={`Skip ${waiting === 1 ? "it" : "them"}`}
							description={`Only sends new events. The ${events} won't be sent to this webhook.`}
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
		notifyDone(`${webhookName(webhook)} is paused.`);
	};
	return (
		<Confirm opened={opened} onClose={onClose} title={`Pause ${webhookName(webhook)}`} action="Pause" onConfirm={pause}>
			Nothing is sent until you resume it. Events and retries wait until their retention ends, and then fail. Webhooks
			are never paused automatically, even if they fail.
		</Confirm>
	);
}
