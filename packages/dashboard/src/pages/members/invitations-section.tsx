import { Button, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type Invitation, invitationsQuery, revokeInvitation } from "../../api/invitations.ts";
import { useProjectId } from "../../api/session.ts";
import { ROLE_WORDS } from "../../lib/account/roles.ts";
import { timeUntilInWords } from "../../lib/text/time.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { notifyUndone } from "../../ui/notify.tsx";
import { type Column, DataTable } from "../../ui/page/data-table.tsx";
import { Section } from "../../ui/page/page.tsx";
import { ErrorState } from "../../ui/page/states.tsx";
import { When } from "../../ui/when.tsx";
import classes from "./members.module.css";

/** Invitations that haven't been accepted yet; renders nothing but an open dialog if there are none. */
export function InvitationsSection() {
	const projectId = useProjectId();
	const { data, error, refetch } = useQuery(invitationsQuery(projectId));
	const [revoking, setRevoking] = useState<Invitation | null>(null);
	if (error !== null && data === undefined) return <ErrorState error={error} onRetry={refetch} />;
	const revoke = async ({ id }: Invitation) => {
		if (!(await revokeInvitation(projectId, id))) notifyUndone("This invitation has been used or revoked already.");
	};
	const columns: readonly Column<Invitation>[] = [
		{
			key: "email",
			header: "For",
			render: ({ email }) =>
				email === null ? (
					<Text span size="sm" c="dimmed">
						Anyone with the link
					</Text>
				) : (
					<span className={classes.long}>{email}</span>
				),
		},
		{ key: "role", header: "Role", render: ({ role }) => ROLE_WORDS[role].label },
		{
			key: "by",
			header: "By",
			from: "sm",
			render: ({ invited_by }) => <span className={classes.long}>{invited_by?.name ?? "The operator"}</span>,
		},
		{
			key: "expires",
			header: "Expires",
			render: ({ expires_at }) => <When at={expires_at} words={timeUntilInWords} />,
		},
		{
			key: "actions",
			header: "",
			align: "right",
			width: 110,
			render: (invitation) => (
				<Button variant="default" size="compact-sm" onClick={() => setRevoking(invitation)}>
					Revoke
				</Button>
			),
		},
	];
	return (
		<>
			{data === undefined || data.data.length === 0 ? null : (
				<Section flush title="Open invitations" description="Each link was shown once, when it was created.">
					<DataTable label="Open invitations" columns={columns} rows={data.data} rowKey={({ id }) => id} cards />
				</Section>
			)}
			{/* It outlives the last row. */}
			{revoking === null ? null : (
				<Confirm
					opened
					onClose={() => setRevoking(null)}
					title="Revoke this invitation?"
					action="Revoke"
					danger
					onConfirm={() => revoke(revoking)}
				>
					The link stops working immediately. You can create another one at any time.
				</Confirm>
			)}
		</>
	);
}
