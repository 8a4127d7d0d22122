import { Button, Group, Radio, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useState } from "react";
import { type CreatedInvitation, invite } from "../../api/invitations.ts";
import { useProject } from "../../api/session.ts";
import { emailFault } from "../../lib/account/account-rules.ts";
import { aRole, ROLE_WORDS, ROLES, type Role } from "../../lib/account/roles.ts";
import { isolated } from "../../lib/text/names.ts";
import { timeUntilInWords } from "../../lib/text/time.ts";
import { SecretOnce } from "../../ui/account/secret-once.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { useKeptDraft } from "../../ui/hooks/use-kept-draft.ts";
import { SubmitForm } from "../../ui/submit-form.tsx";
import { When } from "../../ui/when.tsx";
import classes from "./members.module.css";

const EMPTY: { readonly role: Role; readonly email: string } = { role: "developer", email: "" };

interface InviteDialogProps {
	opened: boolean;
	onClose: () => void;
}

/** Creates an invitation, and shows its link once. */
export function InviteDialog({ opened, onClose }: InviteDialogProps) {
	const { name } = useProject();
	return (
		<Dialog opened={opened} onClose={onClose} title={`Invite to ${isolated(name)}`} size="lg">
			<InviteForm onClose={onClose} />
		</Dialog>
	);
}

function InviteForm({ onClose }: { onClose: () => void }) {
	const { id: projectId } = useProject();
	const [created, setCreated] = useState<CreatedInvitation | null>(null);
	const form = useForm({
		initialValues: EMPTY,
		validate: { email: (email) => (email.trim() === "" ? null : emailFault(email)) },
	});
	useKeptDraft(`${projectId} invitation`, form, EMPTY);
	const create = async ({ role, email }: typeof form.values) => {
		const address = email.trim();
		setCreated(await invite(projectId, address === "" ? { role } : { role, email: address }));
		// Otherwise, it would be kept as a draft if the session ended now.
		form.reset();
	};
	if (created !== null) {
		return (
			<SecretOnce what="link" secret={created.url}>
				<Text size="sm">
					Send it to {created.email ?? "the person"} over a channel you trust. Posthorn doesn't send e-mail. The person
					who opens it joins as {aRole(created.role)}. It works once and expires{" "}
					<When at={created.expires_at} words={timeUntilInWords} />.
				</Text>
				<Group justify="flex-end">
					<Button onClick={onClose}>Done</Button>
				</Group>
			</SecretOnce>
		);
	}
	return (
		<SubmitForm form={form} send={create} action="Create link" onCancel={onClose}>
			<Radio.Group label="Role" {...form.getInputProps("role")}>
				<div className={classes.choices}>
					{ROLES.map((role) => (
						<Radio.Card
							key={role}
							value={role}
							className={classes.choice}
							aria-label={ROLE_WORDS[role].label}
							data-autofocus={role === EMPTY.role || undefined}
						>
							<div className={classes.choiceRow}>
								<Radio.Indicator />
								<div>
									<Text size="sm" fw={600}>
										{ROLE_WORDS[role].label}
									</Text>
									<Text size="sm" c="dimmed">
										{ROLE_WORDS[role].may}
									</Text>
								</div>
							</div>
						</Radio.Card>
					))}
				</div>
			</Radio.Group>
			<TextInput
				label="E-mail"
				description="Optional. If set, only an account with this address can use the link."
				type="email"
				autoComplete="off"
				{...form.getInputProps("email")}
			/>
		</SubmitForm>
	);
}
