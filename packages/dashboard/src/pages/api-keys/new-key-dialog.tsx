import { Checkbox, Select, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { type CreatedApiKey, createApiKey } from "../../api/api-keys.ts";
import { useProjectId } from "../../api/session.ts";
import { nameFault } from "../../lib/account/account-rules.ts";
import {
	expiryAfter,
	KEY_LIFETIMES,
	KEY_SCOPES,
	type KeyScope,
	PROPOSED_SCOPES,
	SCOPE_WORDS,
} from "../../lib/account/key-scopes.ts";
import { keyTrial } from "../../lib/account/key-trial.ts";
import { isolated, typedName } from "../../lib/text/names.ts";
import { serverNow } from "../../lib/text/server-time.ts";
import { SecretDialog } from "../../ui/account/secret-once.tsx";
import { useShownSecret } from "../../ui/account/shown-secret.ts";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { useKeptDraft } from "../../ui/hooks/use-kept-draft.ts";
import { SubmitForm } from "../../ui/submit-form.tsx";

const EMPTY = { name: "", scopes: [...PROPOSED_SCOPES] as KeyScope[], days: "null" };

interface NewKeyDialogProps {
	opened: boolean;
	onClose: () => void;
}

/** Asks for a name, scopes and expiry, then shows the key once, with a command to try it. */
export function NewKeyDialog({ opened, onClose }: NewKeyDialogProps) {
	const projectId = useProjectId();
	const { shown, show, done } = useShownSecret(`keys of ${projectId}`);
	if (shown !== null) {
		const { secret: key, scopes = [], at } = shown;
		const trial = keyTrial(window.location.origin, projectId, { key, scopes, at });
		return (
			<SecretDialog title={shown.title} what="key" secret={shown.secret} onClose={done}>
				{trial === null ? null : (
					<div>
						<Text size="sm" mb={6}>
							{trial.words}
						</Text>
						<CodeBlock code={trial.command} label="command" wrap />
					</div>
				)}
			</SecretDialog>
		);
	}
	return (
		<Dialog opened={opened} onClose={onClose} title="New API key">
			<NewKeyForm
				onClose={onClose}
				onCreated={({ name, key, scopes }) => {
					show({ title: `Your new key: ${isolated(name)}`, secret: key, scopes });
					onClose();
				}}
			/>
		</Dialog>
	);
}

interface NewKeyFormProps {
	onClose: () => void;
	onCreated: (key: CreatedApiKey) => void;
}

function NewKeyForm({ onClose, onCreated }: NewKeyFormProps) {
	const projectId = useProjectId();
	const form = useForm({
		initialValues: EMPTY,
		validate: {
			name: nameFault,
			scopes: (scopes) => (scopes.length === 0 ? "Choose at least one." : null),
		},
	});
	useKeptDraft(`${projectId} key`, form, EMPTY);
	const create = async ({ name, scopes, days }: typeof form.values) => {
		const expiry = expiryAfter(days === "null" ? null : Number(days), serverNow());
		onCreated(await createApiKey(projectId, { name: typedName(name), scopes, ...expiry }));
	};
	return (
		<SubmitForm form={form} send={create} action="Create key" onCancel={onClose}>
			<TextInput
				label="Name"
				description="Which program uses it, for example Shop server or Accounting sync."
				autoComplete="off"
				data-autofocus
				{...form.getInputProps("name")}
			/>
			<Checkbox.Group
				label="Scopes"
				description="What the key may do. Give a program no more than it needs."
				{...form.getInputProps("scopes")}
			>
				<Stack gap="xs" mt="xs">
					{KEY_SCOPES.map((scope) => (
						<Checkbox key={scope} value={scope} label={SCOPE_WORDS[scope].label} description={SCOPE_WORDS[scope].may} />
					))}
				</Stack>
			</Checkbox.Group>
			<Select
				label="Expires"
				data={KEY_LIFETIMES.map(({ days, label }) => ({ value: String(days), label }))}
				allowDeselect={false}
				checkIconPosition="right"
				{...form.getInputProps("days")}
			/>
		</SubmitForm>
	);
}
