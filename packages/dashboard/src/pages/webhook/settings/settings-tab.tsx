import { Stack } from "@mantine/core";
import { useRole } from "../../../api/session.ts";
import type { Webhook } from "../../../api/webhooks.ts";
import { DeleteSection } from "./delete-section.tsx";
import { EndpointForm } from "./endpoint-form.tsx";
import { OrderForm } from "./order-form.tsx";
import { SecretSection } from "./secret-section.tsx";
import { StateSection } from "./state-section.tsx";

/** All settings of a webhook. */
export function SettingsTab({ projectId, webhook }: { projectId: string; webhook: Webhook }) {
	const { may } = useRole();
	const props = { projectId, webhook, readOnly: !may("developer") };
	return (
		<Stack gap="lg" maw={780}>
			<EndpointForm {...props} />
			<OrderForm {...props} />
			<StateSection {...props} />
			<SecretSection {...props} />
			<DeleteSection {...props} />
		</Stack>
	);
}
