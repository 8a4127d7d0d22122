import { Badge, Button, Select } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { changeRole, type Member } from "../../api/members.ts";
import { useProject, useRole, useSession } from "../../api/session.ts";
import { refreshSession } from "../../api/session-cache.ts";
import { aRole, isRole, ROLE_WORDS, ROLES, type Role } from "../../lib/account/roles.ts";
import { isolated } from "../../lib/text/names.ts";
import { plural } from "../../lib/text/numbers.ts";
import { Initials } from "../../ui/account/initials.tsx";
import { notifyDone, notifyProblem } from "../../ui/notify.tsx";
import { type Column, DataTable } from "../../ui/page/data-table.tsx";
import { Section } from "../../ui/page/page.tsx";
import { When } from "../../ui/when.tsx";
import { AccessDialog, losesKeys } from "./access-dialog.tsx";
import classes from "./members.module.css";

const ROLE_OPTIONS = ROLES.map((role) => ({ value: role, label: ROLE_WORDS[role].label }));

/** The members; renders nothing but an open dialog if there are none. */
export function MembersTable({ members }: { members: readonly Member[] | undefined }) {
	const { id: projectId } = useProject();
	const { account } = useSession();
	const { may } = useRole();
	const navigate = useNavigate();
	const [asked, setAsked] = useState<{ readonly member: Member; readonly role: Role | null } | null>(null);

	const change = async (member: Member, role: Role) => {
		if (losesKeys(member.role, role)) return setAsked({ member, role });
		try {
			await changeRole(projectId, member.account_id, role);
			await onDone(member, role, 0);
		} catch (error) {
			notifyProblem(error);
		}
	};
	const onDone = async (member: Member, role: Role | null, revoked: number) => {
		const self = member.account_id === account.id;
		const keys = revoked === 0 ? "" : ` ${plural(revoked, "key is", "keys are")} revoked.`;
		if (role !== null || !self)
			notifyDone(
				`${isolated(member.name)} ${role === null ? "no longer has access" : `is now ${aRole(role)}`}.${keys}`,
			);
		if (role === null && self && !account.operator) await navigate({ to: "/projects" });
		if (self) await refreshSession();
	};

	const columns: readonly Column<Member>[] = [
		{
			key: "person",
			header: "Person",
			render: (member) => (
				<div className={classes.person}>
					<Initials name={member.name} size={34} />
					<div>
						<div className={classes.name}>
							{member.name}
							{member.account_id === account.id ? (
								<Badge color="gray" className={classes.badge}>
									You
								</Badge>
							) : null}
							{member.operator ? <Badge className={classes.badge}>Operator</Badge> : null}
						</div>
						<div className={classes.email}>{member.email}</div>
					</div>
				</div>
			),
		},
		{
			key: "role",
			header: "Role",
			width: 160,
			render: (member) =>
				may("owner") ? (
					<Select
						size="xs"
						w={136}
						flex="none"
						aria-label={`Role of ${member.name}`}
						data={ROLE_OPTIONS}
						value={member.role}
						allowDeselect={false}
						checkIconPosition="right"
						onChange={(role) => {
							if (isRole(role) && role !== member.role) void change(member, role);
						}}
					/>
				) : (
					ROLE_WORDS[member.role].label
				),
		},
		{ key: "added", header: "Since", from: "sm", render: ({ added_at }) => <When at={added_at} /> },
		{
			key: "actions",
			header: "",
			align: "right",
			width: 110,
			render: (member) => {
				const self = member.account_id === account.id;
				if (!self && !may("owner")) return null;
				return (
					<Button
						variant="default"
						size="compact-sm"
						aria-label={self ? "Leave the project" : `Remove ${member.name}`}
						onClick={() => setAsked({ member, role: null })}
					>
						{self ? "Leave" : "Remove"}
					</Button>
				);
			},
		},
	];
	return (
		<>
			{members?.length === 0 ? null : (
				<Section flush>
					<DataTable
						label="Members"
						columns={columns}
						rows={members}
						rowKey={({ account_id }) => account_id}
						skeletonRows={3}
						cards
					/>
				</Section>
			)}
			{/* It outlives the last row. */}
			{asked === null ? null : (
				<AccessDialog
					{...asked}
					self={asked.member.account_id === account.id}
					onClose={() => setAsked(null)}
					onDone={(revoked) => onDone(asked.member, asked.role, revoked)}
				/>
			)}
		</>
	);
}
