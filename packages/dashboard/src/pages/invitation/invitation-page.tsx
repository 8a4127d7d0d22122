import { Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { isStatus } from "../../api/client/error.ts";
import { invitationLookQuery } from "../../api/invitations.ts";
import { sessionQuery } from "../../api/session.ts";
import { aRole, ROLE_WORDS } from "../../lib/account/roles.ts";
import { isolated } from "../../lib/text/names.ts";
import { timeUntilInWords } from "../../lib/text/time.ts";
import { AuthCard } from "../../ui/account/auth-card.tsx";
import { useFragmentToken } from "../../ui/hooks/use-fragment-token.ts";
import { ButtonLink } from "../../ui/links.tsx";
import { ErrorState, SkeletonRows } from "../../ui/page/states.tsx";
import { When } from "../../ui/when.tsx";
import { JoinAs } from "./join-as.tsx";
import { JoinWithAccount } from "./join-with-account.tsx";

/**
 * What the invitation is for, and the ways to accept: as the signed-in user, with an existing account, or with a new
 * one.
 */
export function InvitationPage() {
	const token = useFragmentToken();
	return token === null ? <Over /> : <Invited key={token} token={token} />;
}

function Invited({ token }: { token: string }) {
	const look = useQuery(invitationLookQuery(token));
	const signedIn = useQuery(sessionQuery);
	const session = signedIn.data;
	// The form stays after it has signed in. Otherwise a second button would appear, and no error would be shown.
	const [hasBegun, setBegun] = useState(false);
	if (isStatus(look.error, 404, 409, 422)) return <Over />;
	const failed = [look, signedIn].find(({ data, error }) => data === undefined && error !== null);
	if (look.data === undefined || session === undefined) {
		return (
			<AuthCard title="Invitation">
				{failed === undefined ? (
					<SkeletonRows count={3} height={52} />
				) : (
					<ErrorState error={failed.error} onRetry={failed.refetch} />
				)}
			</AuthCard>
		);
	}
	const { project, role, email, expires_at, invited_by_name } = look.data;
	return (
		<AuthCard
			title={`Join ${isolated(project.name)}`}
			lead={
				<>
					{isolated(invited_by_name ?? "The operator")} invited you to join as <strong>{aRole(role)}</strong>.{" "}
					{ROLE_WORDS[role].you}
				</>
			}
		>
			<Stack>
				{session === null || hasBegun ? (
					<JoinWithAccount token={token} email={email} projectId={project.id} onBegin={() => setBegun(true)} />
				) : (
					<JoinAs token={token} account={session.account} projectId={project.id} />
				)}
				<Text size="xs" c="dimmed">
					The invitation expires <When at={expires_at} words={timeUntilInWords} />.
				</Text>
			</Stack>
		</AuthCard>
	);
}

function Over() {
	return (
		<AuthCard
			title="This invitation is no longer valid"
			lead="It was used or revoked, or is older than 7 days. Ask the person who sent it for a new link."
		>
			<ButtonLink to="/">Go to the start page</ButtonLink>
		</AuthCard>
	);
}
