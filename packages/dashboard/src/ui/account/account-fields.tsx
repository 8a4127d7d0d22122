import { PasswordInput, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import type { Ref } from "react";
import { emailFault, nameFault, passwordFault } from "../../lib/account/account-rules.ts";

export interface NewAccountValues {
	email: string;
	name: string;
	password: string;
}

export const newAccountForm = (email = "") => ({
	initialValues: { email, name: "", password: "" },
	validate: { email: emailFault, name: nameFault, password: passwordFault },
});

/** The fields of a new account. */
export function AccountFields({ form }: { form: UseFormReturnType<NewAccountValues> }) {
	return (
		<>
			<TextInput label="Your name" autoComplete="name" required {...form.getInputProps("name")} />
			<TextInput label="E-mail" type="email" autoComplete="username" required {...form.getInputProps("email")} />
			<PasswordInput
				label="Password"
				description="10 characters or more."
				autoComplete="new-password"
				required
				{...form.getInputProps("password")}
			/>
		</>
	);
}

interface SignInValues {
	email: string;
	password: string;
}

export const signInForm = (email = "") => ({
	initialValues: { email, password: "" },
	validate: {
		email: emailFault,
		password: (password: string) => (password === "" ? "Enter your password." : null),
	},
});

interface SignInFieldsProps {
	form: UseFormReturnType<SignInValues>;
	emailRef?: Ref<HTMLInputElement>;
}

/** The fields for signing in. */
export function SignInFields({ form, emailRef }: SignInFieldsProps) {
	return (
		<>
			<TextInput
				label="E-mail"
				type="email"
				autoComplete="username"
				required
				ref={emailRef}
				{...form.getInputProps("email")}
			/>
			<PasswordInput label="Password" autoComplete="current-password" required {...form.getInputProps("password")} />
		</>
	);
}
