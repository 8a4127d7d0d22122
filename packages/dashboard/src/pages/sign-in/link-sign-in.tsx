import { Button, Stack } from "@mantine/core";
import { useRouter, useSearch } from "@tanstack/react-router";
import { isStatus } from "../../api/client/error.ts";
import { signIn } from "../../api/session.ts";
import { safeNext } from "../../lib/account/next-path.ts";
import { AuthCard } from "../../ui/account/auth-card.tsx";
import { useAttempt } from "../../ui/hooks/use-attempt.ts";
import { ButtonLink } from "../../ui/links.tsx";
import { ErrorState } from "../../ui/page/states.tsx";

/** Waits for a click before using the link, because programs that scan messages open links too. */
export function LinkSignIn({ token }: { token: string }) {
	// A link to recover an account names no page: it leads to where the password is set.
	const { next } = useSearch({ from: "/sign-in" });
	const router = useRouter();
	const { busy, problem, attempt } = useAttempt();
	const enter = async () => {
		await signIn({ token });
		router.history.push(safeNext(next ?? "/account"));
	};
	if (isStatus(problem, 401, 403, 404, 409)) {
		return (
			<AuthCard
				title="This link has expired"
				lead="It works once, within 15 minutes. Ask the operator for another one, or sign in with your password."
			>
				<ButtonLink to="/sign-in">Sign in with a password</ButtonLink>
			</AuthCard>
		);
	}
	return (
		<AuthCard
			title="Sign in with your link"
			lead={
				next === undefined
					? "The link works once. After signing in, you have 15 minutes to set a new password."
					: "The link works once."
			}
		>
			<Stack>
				{problem === null ? null : <ErrorState error={problem} />}
				<Button onClick={() => void attempt(enter)} loading={busy} fullWidth>
					Sign in
				</Button>
			</Stack>
		</AuthCard>
	);
}
