import { Button, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useRouter } from "@tanstack/react-router";
import { useState } from "react";
import { webhookHealthQuery } from "../../../api/health.ts";
import { deleteWebhook, refreshWebhooks } from "../../../api/webhooks.ts";
import { pendingOf, pendingWords } from "../../../lib/attempts/pending.ts";
import { webhookName } from "../../../lib/health/webhook-name.ts";
import { isolated } from "../../../lib/text/names.ts";
import { Confirm } from "../../../ui/confirm.tsx";
import { notifyDone } from "../../../ui/notify.tsx";
import { Section } from "../../../ui/page/page.tsx";
import { useTypeToConfirm } from "../../../ui/type-to-confirm.tsx";
import type { SettingsProps } from "./settings-props.ts";

/** Deletes the webhook after its name is typed. */
export function DeleteSection({ projectId, webhook }: SettingsProps) {
	const [asking, setAsking] = useState(false);
	const navigate = useNavigate();
	const router = useRouter();
	const name = webhookName(webhook);
	const { isConfirmed, field } = useTypeToConfirm(name);
	const health = useQuery(webhookHealthQuery(projectId, webhook.id)).data ?? undefined;
	const waiting = pendingOf(health);
	const remove = async () => {
		const { pathname } = router.latestLocation;
		await deleteWebhook(projectId, webhook.id);
		// Nothing is left to save. If another page is open by now, it stays.
		if (router.latestLocation.pathname === pathname)
			await navigate({ to: "/p/$projectId/webhooks", params: { projectId }, ignoreBlocker: true });
		notifyDone(`${isolated(name)} is deleted.`);
		await refreshWebhooks(projectId);
	};
	return (
		<Section title="Delete">
			<Group justify="space-between" gap="md">
				<Text size="sm" c="dimmed" flex="1 1 300px">
					Deletes this webhook and its secret. Its attempts stay in the log.
				</Text>
				<Button variant="outline" color="red" onClick={() => setAsking(true)}>
					Delete webhook
				</Button>
			</Group>
			<Confirm
				opened={asking}
				onClose={() => setAsking(false)}
				title={`Delete ${isolated(name)}`}
				action="Delete webhook"
				danger
				ready={isConfirmed}
				onConfirm={remove}
			>
				<Stack gap="sm">
					<div>
						{waiting.total === 0
							? ""
							: `${pendingWords(waiting)} that ${waiting.total === 1 ? "waits" : "wait"} for it will not be sent. `}
						Its failed deliveries can no longer be replayed, and its secret is no longer used. This can't be undone.
					</div>
					{field}
				</Stack>
			</Confirm>
		</Section>
	);
}
