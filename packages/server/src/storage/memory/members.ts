import type { Invitation, Member, Membership, Page, Role } from "../port.ts";
import { BEYOND_ALL_IDS } from "../shared/id-range.ts";
import { getAccount } from "./accounts.ts";
import { hex } from "./keys.ts";
import type { MemoryNode } from "./node.ts";
import { take } from "./ordered.ts";
import type { MembershipRow, ProjectRow } from "./rows.ts";
import { membershipKey } from "./tables.ts";

/** Each may do all that the ones before it may. */
const ROLES: readonly Role[] = ["viewer", "developer", "owner"];

export function listMemberships(
	{ tables }: MemoryNode,
	accountId: string,
): (Membership & { readonly projectName: string; readonly apps: readonly string[] })[] {
	const end = Number.POSITIVE_INFINITY;
	return [...tables.memberships.by.account.ascending({ accountId, projectNo: 0 }, { accountId, projectNo: end })]
		.map(({ projectNo, role, addedAt }) => {
			const { id, name, developer } = tables.projects.get(projectNo)!;
			return { projectId: id, accountId, role, addedAt, projectName: name, apps: developer ? ["developer"] : [] };
		})
		.sort((a, b) => (a.projectId < b.projectId ? -1 : 1));
}

function find({ database, tables }: MemoryNode, projectId: string, accountId: string): MembershipRow | undefined {
	const project = database.project(projectId);
	return project && tables.memberships.get(membershipKey(project.no, accountId));
}

export function getRole(node: MemoryNode, projectId: string, accountId: string): Role | null {
	return find(node, projectId, accountId)?.role ?? null;
}

export function listMembers(node: MemoryNode, projectId: string, { after = "", limit }: Page): Member[] {
	const project = node.database.project(projectId);
	if (project === undefined) return [];
	const walk = node.tables.memberships.by.project.ascending(
		{ projectNo: project.no, accountId: `${after} ` },
		{ projectNo: project.no, accountId: BEYOND_ALL_IDS },
	);
	return take(walk, limit).map((row) => toMember(node, row));
}

export function getMember(node: MemoryNode, projectId: string, accountId: string): Member | null {
	const row = find(node, projectId, accountId);
	return row === undefined ? null : toMember(node, row);
}

const toMember = (node: MemoryNode, { accountId, role, addedAt }: MembershipRow): Member => {
	return { account: getAccount(node, accountId)!, role, addedAt };
};

function isLastOwner({ tables }: MemoryNode, { projectNo, accountId, role }: MembershipRow): boolean {
	const members = tables.memberships.by.project.ascending(
		{ projectNo, accountId: "" },
		{ projectNo, accountId: BEYOND_ALL_IDS },
	);
	return role === "owner" && ![...members].some((other) => other.role === "owner" && other.accountId !== accountId);
}

export function setRole(
	node: MemoryNode,
	projectId: string,
	accountId: string,
	role: Role,
): "changed" | "no_member" | "last_owner" {
	const row = find(node, projectId, accountId);
	if (row === undefined) return "no_member";
	if (role !== "owner" && isLastOwner(node, row)) return "last_owner";
	node.tables.memberships.put({ ...row, role });
	return "changed";
}

export function removeMember(
	node: MemoryNode,
	projectId: string,
	accountId: string,
): "removed" | "no_member" | "last_owner" {
	const row = find(node, projectId, accountId);
	if (row === undefined) return "no_member";
	if (isLastOwner(node, row)) return "last_owner";
	node.tables.memberships.delete(membershipKey(row.projectNo, accountId));
	return "removed";
}

/** Makes the account a member, or raises its role; one that is higher already stays. */
function join({ tables }: MemoryNode, { no, id }: ProjectRow, accountId: string, role: Role, at: number): Membership {
	const row = tables.memberships.get(membershipKey(no, accountId));
	const addedAt = row?.addedAt ?? at;
	const raised = row !== undefined && ROLES.indexOf(row.role) >= ROLES.indexOf(role) ? row.role : role;
	tables.memberships.put({ projectNo: no, accountId, role: raised, addedAt });
	return { projectId: id, accountId, role: raised, addedAt };
}

export function createInvitation(
	{ database, tables }: MemoryNode,
	invitation: Invitation,
	tokenHash: Uint8Array,
): void {
	if (database.project(invitation.projectId) === undefined)
		throw new Error(`An invitation was made to project ${invitation.projectId}, which is not there.`);
	tables.invitations.put({ invitation: copyOf(invitation), tokenHash: hex(tokenHash) });
}

const copyOf = (invitation: Invitation): Invitation => ({ ...invitation, invitedBy: { ...invitation.invitedBy } });

export function findInvitation({ tables }: MemoryNode, tokenHash: Uint8Array, at: number): Invitation | null {
	const row = tables.invitations.by.token.get(hex(tokenHash));
	return row === undefined || row.invitation.expiresAt <= at ? null : copyOf(row.invitation);
}

export function listInvitations({ tables }: MemoryNode, projectId: string, at: number): Invitation[] {
	return [...tables.invitations.values()]
		.map(({ invitation }) => invitation)
		.filter((invitation) => invitation.projectId === projectId && invitation.expiresAt > at)
		.sort((a, b) => (a.id < b.id ? -1 : 1))
		.map(copyOf);
}

export function deleteInvitation({ tables }: MemoryNode, projectId: string, invitationId: string): boolean {
	const row = tables.invitations.get(invitationId);
	return row?.invitation.projectId === projectId && tables.invitations.delete(invitationId);
}

export function acceptInvitation(
	node: MemoryNode,
	tokenHash: Uint8Array,
	accountId: string,
	at: number,
): Membership | null {
	const invitation = findInvitation(node, tokenHash, at);
	if (invitation === null) return null;
	node.tables.invitations.delete(invitation.id);
	return join(node, node.database.project(invitation.projectId)!, accountId, invitation.role, at);
}
