import { TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { renameAccount } from "../../api/account.ts";
import { useSession } from "../../api/session.ts";
import { nameFault } from "../../lib/account/account-rules.ts";
import { typedName } from "../../lib/text/names.ts";
import { notifyDone } from "../../ui/notify.tsx";
import { Section } from "../../ui/page/page.tsx";
import { SubmitForm } from "../../ui/submit-form.tsx";

export function NameSection() {
	const { account } = useSession();
	const form = useForm({ initialValues: { name: account.name }, validate: { name: nameFault } });
	const rename = async ({ name }: typeof form.values) => {
		await renameAccount(typedName(name));
		notifyDone("Your name has been changed.");
	};
	return (
		<Section title="Profile" description="Your name appears in the audit log next to your actions.">
			<SubmitForm form={form} send={rename} action="Save" ready={form.isDirty()}>
				<TextInput label="Name" autoComplete="name" {...form.getInputProps("name")} />
				<TextInput
					label="E-mail"
					value={account.email}
					readOnly
					description="Your sign-in address. It can't be changed."
				/>
			</SubmitForm>
		</Section>
	);
}
