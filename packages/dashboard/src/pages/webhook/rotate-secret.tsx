import { Button } from "@mantine/core";
import { useState } from "react";
import { useSession } from "../../api/session.ts";
import { rotateSecret, type Webhook } from "../../api/webhooks.ts";
import { retrySpan } from "../../lib/attempts/track.ts";
import { webhookName } from "../../lib/health/webhook-name.ts";
import { isolated } from "../../lib/text/names.ts";
import { useShownSecret } from "../../ui/account/shown-secret.ts";
import { Confirm } from "../../ui/confirm.tsx";

interface RotateSecretProps {
	projectId: string;
	webhook: Webhook;
	variant: "default" | "filled";
}

/** The button that rotates a webhook's signing secret. Its page shows the new one, once. */
export function RotateSecret({ projectId, webhook, variant }: RotateSecretProps) {
	const [asking, setAsking] = useState(false);
	const { show } = useShownSecret(webhook.id);
	const plan = useSession();
	const name = isolated(webhookName(webhook));
	return (
		<>
			<Button variant={variant} onClick={() => setAsking(true)}>
				Rotate signing secret
			</Button>
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
		</>
	);
}
