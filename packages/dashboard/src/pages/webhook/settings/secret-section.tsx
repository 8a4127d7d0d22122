import { Button, Group, Text } from "@mantine/core";
import { useState } from "react";
import { useSession } from "../../../api/session.ts";
import { rotateSecret } from "../../../api/webhooks.ts";
import { retrySpan } from "../../../lib/attempts/track.ts";
import { webhookName } from "../../../lib/health/health.ts";
import { isolated } from "../../../lib/text/names.ts";
import { useShownSecret } from "../../../ui/account/shown-secret.ts";
import { Confirm } from "../../../ui/confirm.tsx";
import { Section } from "../../../ui/page/page.tsx";
import type { SettingsProps } from "./settings-props.ts";

/** Rotates the signing secret. The webhook's page shows the new one, once. */
export function SecretSection({ projectId, webhook }: SettingsProps) {
	const [asking, setAsking] = useState(false);
	const { show } = useShownSecret(webhook.id);
	const plan = useSession();
	const name = isolated(webhookName(webhook));
	return (
		<Section title="Signing secret">
			<Group justify="space-between" gap="md">
				<Text size="sm" c="dimmed" flex="1 1 300px">
					Your receiver uses it to verify our requests. Secrets are shown once and stored sealed. If you lost it or
					someone else saw it, rotate it.
				</Text>
				<Button variant="default" onClick={() => setAsking(true)}>
					Rotate signing secret
				</Button>
			</Group>
			<Confirm
				opened={asking}
				onClose={() => setAsking(false)}
				title={`Rotate the signing secret of ${name}`}
				action="Rotate now"
				danger
				onConfirm={async () => {
					const secret = await rotateSecret(projectId, webhook.id);
					// If it closed after the secret's dialog has opened, it would return the focus to the page below that.
					setAsking(false);
					show({ title: `New signing secret of ${name}`, secret });
				}}
			>
				The old secret stops working immediately. From then on every request, including retries, is signed with the new
				one. Requests that your receiver rejects until it has the new secret are retried for {retrySpan(plan)}.
			</Confirm>
		</Section>
	);
}
