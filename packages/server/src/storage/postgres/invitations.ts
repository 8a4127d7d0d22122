import type { Actor, Invitation, Membership, Role } from "../port.ts";
import { findProject } from "./find.ts";
import { join } from "./members.ts";
import type { Row, Session } from "./session.ts";
import { sql } from "./sql.ts";

/** The project comes by a query of its own: it is looked up by its key, whatever the planner knows of the tables. */
const INVITATION = `
	SELECT i.id, (SELECT p.id FROM posthorn.projects p WHERE p.no = i.project_no) AS project_id, i.role, i.email,
		i.inviter_kind, i.inviter_id, i.inviter_name, i.created_at, i.expires_at
	FROM posthorn.invitations i`;

const toInvitation = (row: Row): Invitation => ({
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

const CREATE = sql(`
	INSERT INTO posthorn.invitations (
		id, token_hash, project_no, role, email, inviter_kind, inviter_id, inviter_name, created_at, expires_at)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`);

export async function createInvitation(c: Session, invitation: Invitation, tokenHash: Uint8Array): Promise<void> {
	const { id, projectId, role, email, invitedBy, createdAt, expiresAt } = invitation;
	const project = await findProject(c, projectId);
	if (project === null) throw new Error(`An invitation was made to project ${projectId}, which is not there.`);
	const { kind, id: inviterId, name } = invitedBy;
	await c.run(CREATE, id, tokenHash, project, role, email, kind, inviterId, name, createdAt, expiresAt);
}

const FIND = sql(`${INVITATION} WHERE i.token_hash = $1 AND i.expires_at > $2`);

export async function findInvitation(c: Session, tokenHash: Uint8Array, at: number): Promise<Invitation | null> {
	const row = await c.row(FIND, tokenHash, at);
	return row === undefined ? null : toInvitation(row);
}

const LIST = sql(`${INVITATION} WHERE i.project_no = $1 AND i.expires_at > $2 ORDER BY i.id`);

export async function listInvitations(c: Session, projectId: string, at: number): Promise<Invitation[]> {
	const project = await findProject(c, projectId);
	return project === null ? [] : (await c.rows(LIST, project, at)).map(toInvitation);
}

const DELETE = sql("DELETE FROM posthorn.invitations WHERE project_no = $1 AND id = $2");

export async function deleteInvitation(c: Session, projectId: string, invitationId: string): Promise<boolean> {
	const project = await findProject(c, projectId);
	return project !== null && (await c.run(DELETE, project, invitationId)) === 1;
}

const END = sql(`
	DELETE FROM posthorn.invitations i WHERE token_hash = $1 AND expires_at > $2
	RETURNING project_no, role, (SELECT p.id FROM posthorn.projects p WHERE p.no = i.project_no) AS project_id`);

export async function acceptInvitation(
	c: Session,
	tokenHash: Uint8Array,
	accountId: string,
	at: number,
): Promise<Membership | null> {
	const row = await c.row<{ project_no: number; role: Role; project_id: string }>(END, tokenHash, at);
	if (row === undefined) return null;
	const membership = await join(c, row.project_no, accountId, row.role, at);
	return { projectId: row.project_id, accountId, ...membership };
}
