import { Group, Stack, Text } from "@mantine/core";
import { useEffect, useState } from "react";
import { useRole } from "../../../api/session.ts";
import type { Webhook } from "../../../api/webhooks.ts";
import { ForRole } from "../../../ui/account/for-role.tsx";
import { AnchorLink } from "../../../ui/links.tsx";
import { Section } from "../../../ui/page/page.tsx";
import { RotateSecret } from "../rotate-secret.tsx";
import { DeleteSection } from "./delete-section.tsx";
import { EndpointForm } from "./endpoint-form.tsx";
import { OrderForm } from "./order-form.tsx";
import { StateSection } from "./state-section.tsx";

interface SettingsTabProps {
	projectId: string;
	webhook: Webhook;
	/** Called with whether any part has changes that aren't saved. It stays the same. */
	onUnsaved: (unsaved: boolean) => void;
}

/** All settings of a webhook. */
export function SettingsTab({ projectId, webhook, onUnsaved }: SettingsTabProps) {
	const { may } = useRole();
	const [endpoint, setEndpoint] = useState(false);
	const [order, setOrder] = useState(false);
	const unsaved = endpoint || order;
	useEffect(() => onUnsaved(unsaved), [onUnsaved, unsaved]);
	const props = { projectId, webhook, readOnly: !may("developer") };
	return (
		<Stack gap="lg" maw={780}>
			<ForRole needs="owner">
				<AnchorLink
					ml="auto"
					size="sm"
					to="/p/$projectId/audit"
					params={{ projectId }}
					search={{ webhook_id: webhook.id }}
				>
					Who changed this webhook
				</AnchorLink>
			</ForRole>
			<EndpointForm {...props} onUnsaved={setEndpoint} />
			<OrderForm {...props} onUnsaved={setOrder} />
			<ForRole needs="developer">
				<StateSection {...props} />
				<Section title="Signing secret">
					<Group justify="space-between" gap="md">
						<Text size="sm" c="dimmed" flex="1 1 300px">
							Your receiver uses it to verify our requests. Secrets are shown once and stored sealed. If you lost it or
							someone else saw it, rotate it.
						</Text>
						<RotateSecret projectId={projectId} webhook={webhook} variant="default" />
					</Group>
				</Section>
				<DeleteSection {...props} />
			</ForRole>
		</Stack>
	);
}
