import { Button, Group, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { renameAccount } from "../../api/account.ts";
import { useSession } from "../../api/session.ts";
import { nameFault } from "../../lib/account/account-rules.ts";
import { typedName } from "../../lib/text/names.ts";
import { useSubmit } from "../../ui/hooks/use-submit.ts";
import { notifyDone } from "../../ui/notify.tsx";
import { Section } from "../../ui/page/page.tsx";
import { ErrorState } from "../../ui/page/states.tsx";

export function NameSection() {
	const { account } = useSession();
	const form = useForm({ initialValues: { name: account.name }, validate: { name: nameFault } });
	const { busy, problem, submit } = useSubmit(form, async ({ name }) => {
		await renameAccount(typedName(name));
		notifyDone("Your name has been changed.");
	});
	return (
		<Section title="Profile" description="Your name appears in the audit log next to your actions.">
			<form onSubmit={form.onSubmit(submit)} noValidate>
				<Stack>
					<TextInput label="Name" autoComplete="name" {...form.getInputProps("name")} />
					<TextInput
						label="E-mail"
						value={account.email}
						readOnly
						description="Your sign-in address. It can't be changed."
					/>
					{problem === null ? null : <ErrorState error={problem} />}
					<Group justify="flex-end">
						<Button type="submit" loading={busy} disabled={!form.isDirty()}>
							Save
						</Button>
					</Group>
				</Stack>
			</form>
		</Section>
	);
}
