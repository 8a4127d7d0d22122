import { Button, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconUserPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { membersQuery } from "../../api/members.ts";
import { useProjectId, useRole } from "../../api/session.ts";
import { ROLE_WORDS, ROLES } from "../../lib/account/roles.ts";
import { plural } from "../../lib/text/numbers.ts";
import { ForRole, RoleNote } from "../../ui/account/for-role.tsx";
import { Page, PageHeader, Section } from "../../ui/page/page.tsx";
import { ErrorState } from "../../ui/page/states.tsx";
import { InvitationsSection } from "./invitations-section.tsx";
import { InviteDialog } from "./invite-dialog.tsx";
import classes from "./members.module.css";
import { MembersTable } from "./members-table.tsx";

/** Who has access to the project, with their roles. */
export function MembersPage() {
	const projectId = useProjectId();
	const { may } = useRole();
	const { data: members, error, refetch } = useQuery(membersQuery(projectId));
	// The operator always has access, so counts separately even as a member.
	const others = members?.filter(({ operator }) => !operator).length;
	const [inviting, invite] = useDisclosure(false);
	return (
		<Page>
			<PageHeader
				title="Members"
				actions={
					<ForRole needs="owner">
						<Button leftSection={<IconUserPlus size={16} aria-hidden />} onClick={invite.open}>
							Invite
						</Button>
					</ForRole>
				}
			>
				{others === undefined
					? "Who has access to this project."
					: others === 0
						? "Only the operator has access to this project so far."
						: `${plural(others, "person", "people")} and the operator have access to this project.`}
				<RoleNote needs="owner">invite and remove others</RoleNote>
			</PageHeader>
			{error !== null && members === undefined ? (
				<ErrorState error={error} onRetry={refetch} />
			) : (
				<MembersTable members={members} />
			)}
			{may("owner") ? <InvitationsSection /> : null}
			<Section title="What each role can do">
				<dl className={classes.roles}>
					{ROLES.map((role) => (
						<div key={role}>
							<dt>{ROLE_WORDS[role].label}</dt>
							<dd>{ROLE_WORDS[role].may}</dd>
						</div>
					))}
				</dl>
				<Text size="sm" c="dimmed" mt="md">
					The operator runs this instance and is an owner of every project.
				</Text>
			</Section>
			<InviteDialog opened={inviting} onClose={invite.close} />
		</Page>
	);
}
