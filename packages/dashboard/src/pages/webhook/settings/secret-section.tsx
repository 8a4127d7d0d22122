import { Group, Text } from "@mantine/core";
import { Section } from "../../../ui/page/page.tsx";
import { RotateSecret } from "../rotate-secret.tsx";
import type { SettingsProps } from "./settings-props.ts";

/** Rotates the signing secret. */
export function SecretSection({ projectId, webhook }: SettingsProps) {
	return (
		<Section title="Signing secret">
			<Group justify="space-between" gap="md">
				<Text size="sm" c="dimmed" flex="1 1 300px">
					Your receiver uses it to verify our requests. Secrets are shown once and stored sealed. If you lost it or
					someone else saw it, rotate it.
				</Text>
				<RotateSecret projectId={projectId} webhook={webhook} variant="default" />
			</Group>
		</Section>
	);
}
