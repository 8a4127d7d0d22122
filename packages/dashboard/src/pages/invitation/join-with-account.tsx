import { SegmentedControl, Stack } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { acceptInvitation } from "../../api/invitations.ts";
import { signIn } from "../../api/session.ts";
import { typedName } from "../../lib/text/names.ts";
import { AccountFields, newAccountForm, SignInFields, signInForm } from "../../ui/account/account-fields.tsx";
import { SubmitForm } from "../../ui/submit-form.tsx";

interface JoinProps {
	token: string;
	/** Whom the invitation is for, if it says. */
	email: string | null;
	projectId: string;
	/** Called before an existing account signs in: joining comes after that. */
	onBegin: () => void;
}

/** Accepts with a new or an existing account. */
export function JoinWithAccount(props: JoinProps) {
	const [way, setWay] = useState<"new" | "existing">("new");
	return (
		<Stack>
			<SegmentedControl
				fullWidth
				aria-label="How to join"
				value={way}
				onChange={(value) => setWay(value === "existing" ? "existing" : "new")}
				data={[
					{ value: "new", label: "New account" },
					{ value: "existing", label: "I have an account" },
				]}
			/>
			{way === "new" ? <NewAccount {...props} /> : <ExistingAccount {...props} />}
		</Stack>
	);
}

function NewAccount({ token, email, projectId }: JoinProps) {
	const navigate = useNavigate();
	const form = useForm(newAccountForm(email ?? ""));
	const join = async (values: typeof form.values) => {
		await acceptInvitation(token, { ...values, email: values.email.trim(), name: typedName(values.name) });
		await navigate({ to: "/p/$projectId", params: { projectId } });
	};
	return (
		<SubmitForm form={form} send={join} action="Create account and join" wide>
			<AccountFields form={form} />
		</SubmitForm>
	);
}

function ExistingAccount({ token, email, projectId, onBegin }: JoinProps) {
	const navigate = useNavigate();
	const form = useForm(signInForm(email ?? ""));
	const join = async (values: typeof form.values) => {
		onBegin();
		await signIn({ email: values.email.trim(), password: values.password });
		await acceptInvitation(token);
		await navigate({ to: "/p/$projectId", params: { projectId } });
	};
	return (
		<SubmitForm form={form} send={join} action="Sign in and join" wide>
			<SignInFields form={form} />
		</SubmitForm>
	);
}
