import type { Actor, Invitation, Membership } from "../port/accounts.ts";
import type { Role } from "../port/roles.ts";
import { createAccount, type NewAccount } from "./accounts.ts";
import { forUpdate } from "./dialect.ts";
import { join } from "./members.ts";
import { fragment, sql } from "./sql.ts";
import { findProject, row, rows, type Steps } from "./verb.ts";

type InvitationRow = Omit<Invitation, "invitedBy"> & {
	readonly inviterKind: Actor["kind"];
	readonly inviterId: string | null;
	readonly inviterName: string;
};

/** An invitation, of `invitations i`. The project comes from a separate query: it is always looked up by its key. */
const INVITATION = fragment(`
	i.id, (SELECT p.id FROM posthorn.projects p WHERE p.no = i.project_no) AS "projectId", i.role, i.email,
	i.inviter_kind AS "inviterKind", i.inviter_id AS "inviterId", i.inviter_name AS "inviterName",
	i.created_at AS "createdAt", i.expires_at AS "expiresAt"`);

const toInvitation = ({ inviterKind, inviterId, inviterName, ...invitation }: InvitationRow): Invitation => {
	return { ...invitation, invitedBy: { kind: inviterKind, id: inviterId, name: inviterName } };
};

export function* createInvitation(p: Invitation & { readonly tokenHash: Uint8Array }): Steps<void> {
	const { id, projectId, tokenHash, role, email, invitedBy, createdAt, expiresAt } = p;
	const project = yield* findProject(projectId);
	if (project === null) throw new Error(`Project ${projectId} of an invitation doesn't exist.`);
	yield* row(sql`
		INSERT INTO posthorn.invitations (
			id, token_hash, project_no, role, email, inviter_kind, inviter_id, inviter_name, created_at, expires_at)
		VALUES (
			${id}, ${tokenHash}, ${project}, ${role}, ${email}, ${invitedBy.kind}, ${invitedBy.id}, ${invitedBy.name},
			${createdAt}, ${expiresAt})`);
}

interface TokenAt {
	readonly tokenHash: Uint8Array;
	readonly at: number;
}

/** One that hasn't expired at `at` and wasn't accepted. */
export function* findInvitation({ tokenHash, at }: TokenAt): Steps<Invitation | null> {
	const found = yield* row<InvitationRow>(sql`
		SELECT ${INVITATION} FROM posthorn.invitations i WHERE i.token_hash = ${tokenHash} AND i.expires_at > ${at}`);
	return found === undefined ? null : toInvitation(found);
}

/** Those that haven't expired at `at`, by id. */
export function* listInvitations(p: { readonly projectId: string; readonly at: number }): Steps<Invitation[]> {
	const project = yield* findProject(p.projectId);
	const found = yield* rows<InvitationRow>(sql`
		SELECT ${INVITATION} FROM posthorn.invitations i
		WHERE i.project_no = ${project} AND i.expires_at > ${p.at} ORDER BY i.id`);
	return found.map(toInvitation);
}

/** False if the project has no such invitation. */
export function* deleteInvitation(p: { readonly projectId: string; readonly invitationId: string }): Steps<boolean> {
	const project = yield* findProject(p.projectId);
	const deleted = yield* rows(sql`
		DELETE FROM posthorn.invitations WHERE id = ${p.invitationId} AND project_no = ${project} RETURNING id`);
	return deleted.length === 1;
}

/** Who accepts: an account, or one that is created with the acceptance. */
export type Accepting = { readonly accountId: string } | { readonly newAccount: NewAccount };

/**
 * Ends an invitation to the project and makes the account a member (a higher role stays). Null if the
 * invitation is unknown, accepted or expired. `taken`: the new account's email has an account; the invitation stays.
 */
export function* acceptInvitation(
	p: TokenAt & { readonly projectId: string; readonly by: Accepting },
): Steps<Membership | "taken" | null> {
	const { projectId, tokenHash, by, at } = p;
	const project = yield* findProject(projectId);
	// Locked, so that of several acceptances only the first creates an account.
	const open = yield* row<{ id: string; role: Role }>(sql`
		SELECT id, role FROM posthorn.invitations
		WHERE token_hash = ${tokenHash} AND project_no = ${project} AND expires_at > ${at}${forUpdate}`);
	if (project === null || open === undefined) return null;
	if ("newAccount" in by && (yield* createAccount(by.newAccount)) === "taken") return "taken";
	yield* row(sql`DELETE FROM posthorn.invitations WHERE id = ${open.id}`);
	const accountId = "newAccount" in by ? by.newAccount.account.id : by.accountId;
	return { projectId, accountId, ...(yield* join(project, accountId, open.role, at)) };
}
