import { Modal, Text } from "@mantine/core";
import { useState } from "react";
import { type CreatedApiKey, createApiKey } from "../../api/api-keys.ts";
import { useProjectId } from "../../api/session.ts";
import { keyTrial } from "../../lib/key-trial.ts";
import { CodeBlock } from "../../ui/code-block.tsx";
import { NameForm } from "../../ui/name-form.tsx";
import { SecretDialog } from "../../ui/secret-once.tsx";

interface NewKeyDialogProps {
	opened: boolean;
	onClose: () => void;
}

/** Asks for a name, then shows the key once, with a command to try it. */
export function NewKeyDialog({ opened, onClose }: NewKeyDialogProps) {
	const projectId = useProjectId();
	const [created, setCreated] = useState<CreatedApiKey | null>(null);
	if (created !== null) {
		return (
			<SecretDialog
				title={`Your new key: ${created.name}`}
				what="key"
				secret={created.key}
				onClose={() => setCreated(null)}
			>
				<div>
					<Text size="sm" mb={6}>
						Try it by listing the project's webhooks.
					</Text>
					<CodeBlock code={keyTrial(window.location.origin, projectId, created.key)} label="command" wrap />
				</div>
			</SecretDialog>
		);
	}
	return (
		<Modal opened={opened} onClose={onClose} title="New API key">
			<NameForm
				label="Name"
				description="Which program uses it, for example Shop server or Accounting sync."
				action="Create key"
				onCancel={onClose}
				onSend={async (name) => {
					setCreated(await createApiKey(projectId, name));
					onClose();
				}}
			/>
		</Modal>
	);
}
