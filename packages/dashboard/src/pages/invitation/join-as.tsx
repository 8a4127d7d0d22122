import { Button, Group, Stack, Text } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { acceptInvitation } from "../../api/invitations.ts";
import type { Account } from "../../api/model.ts";
import { signOut } from "../../api/session.ts";
import { isolated } from "../../lib/text/names.ts";
import { Initials } from "../../ui/account/initials.tsx";
import { useAttempt } from "../../ui/hooks/use-attempt.ts";
import { ErrorState } from "../../ui/page/states.tsx";
import classes from "./join-as.module.css";

interface JoinAsProps {
	token: string;
	account: Account;
	projectId: string;
}

/** Accepts with the signed-in account. */
export function JoinAs({ token, account, projectId }: JoinAsProps) {
	const navigate = useNavigate();
	const { busy, problem, attempt } = useAttempt();
	const join = async () => {
		await acceptInvitation(token);
		await navigate({ to: "/p/$projectId", params: { projectId } });
	};
	return (
		<Stack>
			<Group gap="sm" wrap="nowrap">
				<Initials name={account.name} size={36} />
				<div>
					<Text size="sm" fw={600}>
						{account.name}
					</Text>
					<Text size="xs" c="dimmed">
						{account.email}
					</Text>
				</div>
			</Group>
			{problem === null ? null : <ErrorState error={problem} />}
			<Button
				loading={busy}
				onClick={() => void attempt(join)}
				classNames={{ root: classes.button, label: classes.label }}
			>
				Join as {isolated(account.name)}
			</Button>
			<Button variant="subtle" disabled={busy} onClick={() => void attempt(signOut)}>
				That's not me
			</Button>
		</Stack>
	);
}
