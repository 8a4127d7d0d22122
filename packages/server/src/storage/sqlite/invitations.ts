import type { Actor, Invitation, Membership, Role } from "../port.ts";
import type { Connection } from "./connection.ts";
import { join } from "./members.ts";

const INVITATION = `
	SELECT i.id, p.id AS project_id, i.role, i.email, i.inviter_kind, i.inviter_id, i.inviter_name, i.created_at,
		i.expires_at
	FROM invitations i JOIN projects p ON p.no = i.project_no`;

const toInvitation = (row: Record<string, unknown>): Invitation => ({
	id: row.id as string,
	projectId: row.project_id as string,
	role: row.role as Role,
	email: row.email as string | null,
	invitedBy: {
		kind: row.inviter_kind as Actor["kind"],
		id: row.inviter_id as string | null,
		name: row.inviter_name as string,
	},
	createdAt: row.created_at as number,
	expiresAt: row.expires_at as number,
});

export function createInvitation(c: Connection, invitation: Invitation, tokenHash: Uint8Array): void {
	const project = c.names.project(invitation.projectId);
	if (project === null)
		throw new Error(`An invitation was made to project ${invitation.projectId}, which is not there.`);
	c.sql(`
		INSERT INTO invitations (
			id, token_hash, project_no, role, email, inviter_kind, inviter_id, inviter_name, created_at, expires_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`).run(
		invitation.id,
		tokenHash,
		project,
		invitation.role,
		invitation.email,
		invitation.invitedBy.kind,
		invitation.invitedBy.id,
		invitation.invitedBy.name,
		invitation.createdAt,
		invitation.expiresAt,
	);
}

export function findInvitation(c: Connection, tokenHash: Uint8Array, at: number): Invitation | null {
	const row = c.sql(`${INVITATION} WHERE i.token_hash = ? AND i.expires_at > ?`).get(tokenHash, at);
	return row === undefined ? null : toInvitation(row);
}

export function listInvitations(c: Connection, projectId: string, at: number): Invitation[] {
	return c
		.sql(`${INVITATION} WHERE i.project_no = ? AND i.expires_at > ? ORDER BY i.id`)
		.all(c.names.project(projectId), at)
		.map(toInvitation);
}

export function deleteInvitation(c: Connection, projectId: string, invitationId: string): boolean {
	const { changes } = c
		.sql("DELETE FROM invitations WHERE id = ? AND project_no = ?")
		.run(invitationId, c.names.project(projectId));
	return changes === 1;
}

export function acceptInvitation(
	c: Connection,
	tokenHash: Uint8Array,
	accountId: string,
	at: number,
): Membership | null {
	const row = c
		.sql("DELETE FROM invitations WHERE token_hash = ? AND expires_at > ? RETURNING project_no, role")
		.get(tokenHash, at);
	if (row === undefined) return null;
	const project = row.project_no as number;
	const membership = join(c, project, accountId, row.role as Role, at);
	const { id } = c.sql("SELECT id FROM projects WHERE no = ?").get(project)!;
	return { projectId: id as string, accountId, ...membership };
}
