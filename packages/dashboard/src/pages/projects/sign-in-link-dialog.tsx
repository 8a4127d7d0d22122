import { Button, Group, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useState } from "react";
import { createSignInLink, type SignInLink } from "../../api/projects.ts";
import { emailFault } from "../../lib/account/account-rules.ts";
import { timeUntilInWords } from "../../lib/text/time.ts";
import { SecretOnce } from "../../ui/account/secret-once.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { SubmitForm } from "../../ui/submit-form.tsx";
import { When } from "../../ui/when.tsx";

interface SignInLinkDialogProps {
	opened: boolean;
	onClose: () => void;
}

/** Creates a one-time sign-in link for someone who forgot their password. */
export function SignInLinkDialog({ opened, onClose }: SignInLinkDialogProps) {
	return (
		<Dialog opened={opened} onClose={onClose} title="Sign-in link" size="lg">
			<LinkForm onClose={onClose} />
		</Dialog>
	);
}

function LinkForm({ onClose }: { onClose: () => void }) {
	const [link, setLink] = useState<SignInLink | null>(null);
	const form = useForm({ initialValues: { email: "" }, validate: { email: emailFault } });
	if (link !== null) {
		return (
			<SecretOnce what="link" secret={link.url}>
				<Text size="sm">
					Send it only to that person, over a channel you trust. It signs in once and expires{" "}
					<When at={link.expires_at} words={timeUntilInWords} />. A new password can be set right after signing in.
				</Text>
				<Group justify="flex-end">
					<Button onClick={onClose}>Done</Button>
				</Group>
			</SecretOnce>
		);
	}
	return (
		<SubmitForm
			form={form}
			send={async ({ email }) => setLink(await createSignInLink(email.trim()))}
			action="Create link"
			onCancel={onClose}
		>
			<Text size="sm">
				For someone who has an account but forgot the password. Anyone with the link can sign in as that person.
			</Text>
			<TextInput label="E-mail of the account" type="email" data-autofocus {...form.getInputProps("email")} />
		</SubmitForm>
	);
}
