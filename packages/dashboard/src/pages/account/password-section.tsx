import { PasswordInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { changePassword } from "../../api/account.ts";
import { useSession } from "../../api/session.ts";
import { passwordFault } from "../../lib/account/account-rules.ts";
import { notifyDone } from "../../ui/notify.tsx";
import { Section } from "../../ui/page/page.tsx";
import { SubmitForm } from "../../ui/submit-form.tsx";

/** Changes the password. Someone who signed in by link has forgotten the old one and may omit it. */
export function PasswordSection() {
	const { account, by_link } = useSession();
	const form = useForm({
		initialValues: { current: "", password: "" },
		validate: {
			current: (current: string) => (current === "" && !by_link ? "Enter your current password." : null),
			password: passwordFault,
		},
	});
	const change = async ({ current, password }: typeof form.values) => {
		await changePassword(current === "" ? { password } : { current, password });
		form.reset();
		notifyDone("Your password has been changed, and all other sessions were signed out.");
	};
	return (
		<Section title="Password" description="Changing it signs out all other sessions.">
			<SubmitForm form={form} send={change} action="Change password" ready={form.isDirty("password")}>
				<input type="text" autoComplete="username" value={account.email} readOnly hidden />
				<PasswordInput
					label="Current password"
					description={by_link ? "Optional for 15 minutes after signing in with a link." : undefined}
					autoComplete="current-password"
					{...form.getInputProps("current")}
				/>
				<PasswordInput
					label="New password"
					description="10 characters or more."
					autoComplete="new-password"
					{...form.getInputProps("password")}
				/>
			</SubmitForm>
		</Section>
	);
}
