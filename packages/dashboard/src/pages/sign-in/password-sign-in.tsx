import { Button, Stack, Text, VisuallyHidden } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { useRouter, useSearch } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { sessionQuery, signIn } from "../../api/session.ts";
import { safeNext } from "../../lib/account/next-path.ts";
import { SignInFields, signInForm } from "../../ui/account/account-fields.tsx";
import { AuthCard } from "../../ui/account/auth-card.tsx";
import { useSubmit } from "../../ui/hooks/use-submit.ts";
import { ErrorState } from "../../ui/page/states.tsx";

export function PasswordSignIn() {
	const { next, ended } = useSearch({ from: "/sign-in" });
	const router = useRouter();
	const { data: session } = useQuery(sessionQuery);
	const form = useForm(signInForm());
	const { busy, problem, fault, formProps } = useSubmit(form, async ({ email, password }) => {
		await signIn({ email: email.trim(), password });
		router.history.push(safeNext(next));
	});
	const already = session !== undefined && session !== null && !busy;
	useEffect(() => {
		if (already) router.history.replace(safeNext(next));
	}, [already, next, router]);
	const email = useRef<HTMLInputElement>(null);
	useEffect(() => email.current?.focus({ preventScroll: true }), []);
	return (
		<AuthCard
			title="Sign in"
			lead={
				next === undefined
					? "Check deliveries and fix failures."
					: `${ended ? "Your session has ended. Once you've signed in again, " : "After that "}you'll return to your page.`
			}
		>
			<form {...formProps}>
				<Stack>
					<SignInFields form={form} emailRef={email} />
					<VisuallyHidden aria-live="assertive">{fault}</VisuallyHidden>
					{problem === null ? null : <ErrorState error={problem} />}
					<Button type="submit" loading={busy} fullWidth mt="xs">
						Sign in
					</Button>
					<Text size="sm" c="dimmed">
						Forgot the password? The operator of this instance can give you a link that signs you in once.
					</Text>
				</Stack>
			</form>
		</AuthCard>
	);
}
