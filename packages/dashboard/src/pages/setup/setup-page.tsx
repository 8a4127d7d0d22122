import { Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { rememberSetUp, setUp, setupQuery } from "../../api/session.ts";
import { typedName } from "../../lib/text/names.ts";
import { AccountFields, newAccountForm } from "../../ui/account/account-fields.tsx";
import { AuthCard } from "../../ui/account/auth-card.tsx";
import { useFragmentToken } from "../../ui/hooks/use-fragment-token.ts";
import { Code } from "../../ui/ident.tsx";
import { ButtonLink } from "../../ui/links.tsx";
import { ErrorState, SkeletonRows } from "../../ui/page/states.tsx";
import { SubmitForm } from "../../ui/submit-form.tsx";

/** The first account of an instance, its operator's. The service prints the link to this page when it starts. */
export function SetupPage() {
	const token = useFragmentToken();
	const { data: needed, error, refetch } = useQuery(setupQuery);
	if (needed === undefined) {
		return (
			<AuthCard title="Set up Posthorn">
				{error === null ? <SkeletonRows count={3} height={52} /> : <ErrorState error={error} onRetry={refetch} />}
			</AuthCard>
		);
	}
	return needed ? <SetupForm key={token} token={token} /> : <SetUpAlready />;
}

function SetUpAlready() {
	return (
		<AuthCard
			title="Posthorn is set up"
			lead="Its operator has an account. Sign in, or ask the operator to invite you."
		>
			<ButtonLink to="/sign-in">Sign in</ButtonLink>
		</AuthCard>
	);
}

function SetupForm({ token }: { token: string | null }) {
	const navigate = useNavigate();
	const account = newAccountForm();
	const form = useForm({
		initialValues: { ...account.initialValues, token: token ?? "" },
		validate: {
			...account.validate,
			token: (value: string) => (value.trim() === "" ? "The token is at the end of the link." : null),
		},
	});
	const create = async (values: typeof form.values) => {
		await setUp({ ...values, token: values.token.trim(), email: values.email.trim(), name: typedName(values.name) });
		await navigate({ to: "/projects" });
		rememberSetUp();
	};
	return (
		<AuthCard
			title="Set up Posthorn"
			lead="Create the operator's account. The operator creates projects and can see all of them. Others join by invitation."
		>
			<SubmitForm form={form} send={create} action="Create account" wide>
				{token === null ? (
					<TextInput
						label="Setup token"
						description={
							<>
								<Code>posthorn setup-link</Code> prints a link: <Code>/setup#…</Code>. The token is the part after the
								#.
							</>
						}
						autoComplete="off"
						required
						{...form.getInputProps("token")}
					/>
				) : null}
				<AccountFields form={form} />
			</SubmitForm>
			<Text size="xs" c="dimmed">
				The link works until an account exists. After that, no one else can use it.
			</Text>
		</AuthCard>
	);
}
