/**
 * Members of a project. Changing them locks the project's row, so that two owners who step down concurrently see each
 * other.
 */
import {
	type Account,
	type Actor,
	type AuditEntry,
	type By,
	type Invitation,
	type Member,
	type Membership,
	mayAs,
	type Role,
} from "../port/accounts.ts";
import type { Page, ProjectRef } from "../port/registry.ts";
import { BEYOND_ALL_IDS } from "../shared/deliveries.ts";
import { ACCOUNT, createAccount, type NewAccount, type TokenAt } from "./accounts.ts";
import { endUnlocked, forUpdate, fragment, joinByKey, type Query, sql, unlocked } from "./sql.ts";
import { row, rows, type Steps, together } from "./verb.ts";

interface MemberOf {
	readonly accountId: string;
}

/** A membership as the account sees it. */
interface ProjectMembership extends Membership {
	readonly projectName: string;
	readonly projectCreatedAt: number;
	readonly apps: readonly string[];
}

const PROJECT = joinByKey("projects p", "p.no = m.project_no");

/** The projects that an account is a member of, by project id. */
export function* listMemberships({ accountId }: { readonly accountId: string }): Steps<ProjectMembership[]> {
	const found = yield* rows<Omit<ProjectMembership, "accountId" | "apps"> & { readonly developer: boolean }>(sql`
		SELECT p.id AS "projectId", p.name AS "projectName", p.created_at AS "projectCreatedAt", p.developer, m.role,
			m.added_at AS "addedAt"
		FROM posthorn.memberships m ${PROJECT} WHERE m.account_id = ${accountId}`);
	return found
		.map(({ developer, ...membership }) => ({ ...membership, accountId, apps: developer ? ["developer"] : [] }))
		.sort((a, b) => (a.projectId < b.projectId ? -1 : 1));
}

export function* getRole(project: number, { accountId }: MemberOf): Steps<Role | null> {
	const found = yield* row<{ role: Role }>(sql`
		SELECT role FROM posthorn.memberships WHERE project_no = ${project} AND account_id = ${accountId}`);
	return found?.role ?? null;
}

type MemberRow = Account & Omit<Member, "account">;
const MEMBER = fragment('m.role, m.added_at AS "addedAt"');
const ITS_ACCOUNT = joinByKey("accounts a", "a.id = m.account_id");
const toMember = ({ role, addedAt, ...account }: MemberRow): Member => ({ account, role, addedAt });

/** By account id. */
export function* listMembers(project: number, { after = "", limit }: Page): Steps<Member[]> {
	const found = yield* rows<MemberRow>(sql`
		SELECT ${MEMBER}, ${ACCOUNT} FROM posthorn.memberships m ${ITS_ACCOUNT}
		WHERE m.project_no = ${project} AND m.account_id > ${after} ORDER BY m.account_id LIMIT ${limit}`);
	return found.map(toMember);
}

export function* getMember(project: number, { accountId }: MemberOf): Steps<Member | null> {
	const found = yield* row<MemberRow>(sql`
		SELECT ${MEMBER}, ${ACCOUNT} FROM posthorn.memberships m ${ITS_ACCOUNT}
		WHERE m.project_no = ${project} AND m.account_id = ${accountId}`);
	return found === undefined ? null : toMember(found);
}

/** `not_allowed`: `by` has lost the role. `last_owner`: the project would have no owner left. */
type Refusal = "not_allowed" | "no_member" | "last_owner";

/** An owner who isn't one any longer loses the invitations that they created: their links could bring them back. */
export function* setRole(project: number, p: MemberOf & By & { readonly role: Role }): Steps<"changed" | Refusal> {
	const { accountId, role } = p;
	const refusal = yield* refusalOf(project, p, role);
	if (refusal !== null) return refusal;
	yield* changeRole(project, accountId, role);
	if (role !== "owner") yield* endInvitationsOf(project, accountId);
	return "changed";
}

/** Like {@link setRole}. */
export function* removeMember(project: number, p: MemberOf & By): Steps<"removed" | Refusal> {
	const { accountId } = p;
	const refusal = yield* refusalOf(project, p, null);
	if (refusal !== null) return refusal;
	yield* row(sql`DELETE FROM posthorn.memberships WHERE project_no = ${project} AND account_id = ${accountId}`);
	yield* endInvitationsOf(project, accountId);
	return "removed";
}

/** Why a member can't get this role (or be removed, if `role` is null); null if they can. Locks the members. */
function* refusalOf(project: number, { accountId, by }: MemberOf & By, role: Role | null): Steps<Refusal | null> {
	const member = yield* holdMember(project, accountId);
	if (!(yield* mayStill(project, by))) return "not_allowed";
	if (member === null) return "no_member";
	return member.isLastOwner && role !== "owner" ? "last_owner" : null;
}

/** Ends the project's invitations that an account created. */
function* endInvitationsOf(project: number, accountId: string): Steps<void> {
	yield* row(sql`
		DELETE FROM posthorn.invitations
		WHERE project_no = ${project} AND inviter_kind = 'account' AND inviter_id = ${accountId}`);
}

/** Makes the account a member, or raises its role; a higher role stays. */
function* join(
	project: number,
	accountId: string,
	role: Role,
	at: number,
): Steps<Pick<Membership, "role" | "addedAt">> {
	const member = yield* holdMember(project, accountId);
	if (member === null) {
		yield* row(sql`
			INSERT INTO posthorn.memberships (project_no, account_id, role, added_at)
			VALUES (${project}, ${accountId}, ${role}, ${at})`);
		return { role, addedAt: at };
	}
	const { addedAt } = member;
	if (mayAs(member.role, role)) return { role: member.role, addedAt };
	yield* changeRole(project, accountId, role);
	return { role, addedAt };
}

function* changeRole(project: number, accountId: string, role: Role): Steps<void> {
	yield* row(sql`
		UPDATE posthorn.memberships SET role = ${role} WHERE project_no = ${project} AND account_id = ${accountId}`);
}

/** Locks the project's members until the transaction ends. */
export const holdMembers = (project: number) => sql`SELECT 1 FROM posthorn.projects WHERE no = ${project}${forUpdate}`;

/** The same, with one of them; null if the account isn't a member. */
function* holdMember(
	project: number,
	accountId: string,
): Steps<{ readonly role: Role; readonly addedAt: number; readonly isLastOwner: boolean } | null> {
	const [, owners, [member]] = yield* together(
		holdMembers(project),
		sql`SELECT account_id FROM posthorn.memberships WHERE project_no = ${project} AND role = 'owner' LIMIT 2`,
		sql<{ role: Role; addedAt: number }>`
			SELECT ${MEMBER} FROM posthorn.memberships m WHERE m.project_no = ${project} AND m.account_id = ${accountId}`,
	);
	return member === undefined ? null : { ...member, isLastOwner: member.role === "owner" && owners.length === 1 };
}

/**
 * Whether the member still has the role, or the key still exists, which then stays so until the transaction ends. The
 * operator always may.
 */
export function* mayStill(project: number, by: By["by"]): Steps<boolean> {
	if (!by) return true;
	if ("role" in by) {
		const held = yield* row<{ role: Role }>(sql`
			SELECT role FROM posthorn.memberships
			WHERE project_no = ${project} AND account_id = ${by.accountId}${forUpdate}`);
		return held !== undefined && mayAs(held.role, by.role);
	}
	const found = yield* row(sql`
		SELECT id FROM posthorn.api_keys WHERE id = ${by.keyId} AND project_no = ${project}${forUpdate}`);
	return found !== undefined;
}

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

interface NewInvitation extends Invitation, By {
	readonly tokenHash: Uint8Array;
	/** How many invitations to the project may be open with this one; any number by default. */
	readonly most?: number | undefined;
}

/** `not_member`: `by` has lost the role, with which all invitations of theirs have ended. */
export function* createInvitation(project: number, p: NewInvitation): Steps<"created" | "not_member" | "too_many"> {
	const { id, tokenHash, role, email, invitedBy, createdAt, expiresAt, by, most } = p;
	// Members who invite concurrently count each other's invitations.
	yield* row(holdMembers(project));
	if (!(yield* mayStill(project, by))) return "not_member";
	if (most !== undefined) {
		const open = yield* row(sql`
			SELECT id FROM posthorn.invitations
			WHERE project_no = ${project} AND expires_at > ${createdAt} LIMIT 1 OFFSET ${most - 1}`);
		if (open !== undefined) return "too_many";
	}
	yield* row(sql`
		INSERT INTO posthorn.invitations (
			id, token_hash, project_no, role, email, inviter_kind, inviter_id, inviter_name, created_at, expires_at)
		VALUES (
			${id}, ${tokenHash}, ${project}, ${role}, ${email}, ${invitedBy.kind}, ${invitedBy.id}, ${invitedBy.name},
			${createdAt}, ${expiresAt})`);
	return "created";
}

/** One that hasn't expired at `at` and wasn't accepted. */
export function* findInvitation({ tokenHash, at }: TokenAt): Steps<Invitation | null> {
	const found = yield* row<InvitationRow>(sql`
		SELECT ${INVITATION} FROM posthorn.invitations i WHERE i.token_hash = ${tokenHash} AND i.expires_at > ${at}`);
	return found === undefined ? null : toInvitation(found);
}

/** Those that haven't expired at `at`, by id. */
export function* listInvitations(project: number, { at }: { readonly at: number }): Steps<Invitation[]> {
	const found = yield* rows<InvitationRow>(sql`
		SELECT ${INVITATION} FROM posthorn.invitations i
		WHERE i.project_no = ${project} AND i.expires_at > ${at} ORDER BY i.id`);
	return found.map(toInvitation);
}

/** False if the project has no such invitation, or `by` has lost the role. */
export function* deleteInvitation(
	project: number,
	{ invitationId, by }: By & { readonly invitationId: string },
): Steps<boolean> {
	if (!(yield* mayStill(project, by))) return false;
	const deleted = yield* rows(sql`
		DELETE FROM posthorn.invitations WHERE id = ${invitationId} AND project_no = ${project} RETURNING id`);
	return deleted.length === 1;
}

/** Who accepts: an account, or one that is created with the acceptance. */
export type Accepting = { readonly accountId: string } | { readonly newAccount: NewAccount };

/**
 * Ends an invitation to the project and makes the account a member (a higher role stays). Null if the
 * invitation is unknown, accepted or expired. `taken`: the new account's email has an account; the invitation stays.
 */
export function* acceptInvitation(
	project: number,
	{ projectId, tokenHash, by, at }: ProjectRef & TokenAt & { readonly by: Accepting },
): Steps<Membership | "taken" | null> {
	// Locked, so that of several acceptances only the first creates an account.
	const open = yield* row<{ id: string; role: Role }>(sql`
		SELECT id, role FROM posthorn.invitations
		WHERE token_hash = ${tokenHash} AND project_no = ${project} AND expires_at > ${at}${forUpdate}`);
	if (open === undefined) return null;
	if ("newAccount" in by && (yield* createAccount(by.newAccount)) === "taken") return "taken";
	yield* row(sql`DELETE FROM posthorn.invitations WHERE id = ${open.id}`);
	const accountId = "newAccount" in by ? by.newAccount.account.id : by.accountId;
	return { projectId, accountId, ...(yield* join(project, accountId, open.role, at)) };
}

/** Repeating it changes nothing. */
export function* appendAudit(project: number, { id, at, actor, action, target, detail }: AuditEntry): Steps<void> {
	yield* row(sql`
		INSERT INTO posthorn.audit (
			project_no, id, at, actor_kind, actor_id, actor_name, action, target_kind, target_id, target_name, detail)
		VALUES (
			${project}, ${id}, ${at}, ${actor.kind}, ${actor.id}, ${actor.name}, ${action},
			${target?.kind ?? null}, ${target?.id ?? null}, ${target?.name ?? null}, ${JSON.stringify(detail)})
		ON CONFLICT (project_no, id) DO NOTHING`);
}

interface EntryRow extends Pick<AuditEntry, "id" | "at" | "action" | "detail"> {
	readonly actorKind: Actor["kind"];
	readonly actorId: string | null;
	readonly actorName: string;
	readonly targetKind: string | null;
	readonly targetId: string;
	readonly targetName: string;
}

export interface AuditFilter {
	/** Only what was done to this. */
	readonly targetId?: string | undefined;
	/** Only what this account or API key did; null: what the operator's key did. */
	readonly actorId?: string | null | undefined;
}

const ENTRY = fragment(`
	SELECT id, at, actor_kind AS "actorKind", actor_id AS "actorId", actor_name AS "actorName", action,
		target_kind AS "targetKind", target_id AS "targetId", target_name AS "targetName", detail
	FROM posthorn.audit`);

/** One statement for each combination, so that each is planned for its index. */
function entriesOf(
	project: number,
	{ targetId, actorId, after = BEYOND_ALL_IDS, limit }: Page & AuditFilter,
): Query<EntryRow> {
	// A target has few entries, so with both, its index is used: no index serves this condition on the actor. Only the
	// operator's key has no id.
	if (targetId !== undefined && actorId !== undefined)
		return sql`
			${ENTRY} WHERE project_no = ${project} AND target_id = ${targetId} AND id < ${after}
				AND coalesce(actor_id, actor_kind) = ${actorId ?? "operator_key"} ORDER BY id DESC LIMIT ${limit}`;
	if (targetId !== undefined)
		return sql`
			${ENTRY} WHERE project_no = ${project} AND target_id = ${targetId} AND id < ${after}
			ORDER BY id DESC LIMIT ${limit}`;
	if (actorId === null)
		return sql`
			${ENTRY} WHERE project_no = ${project} AND actor_id IS NULL AND id < ${after} ORDER BY id DESC LIMIT ${limit}`;
	if (actorId !== undefined)
		return sql`
			${ENTRY} WHERE project_no = ${project} AND actor_id = ${actorId} AND id < ${after}
			ORDER BY id DESC LIMIT ${limit}`;
	return sql`${ENTRY} WHERE project_no = ${project} AND id < ${after} ORDER BY id DESC LIMIT ${limit}`;
}

/** Newest first, by entry id; `after` is the last entry of the previous page. */
export function* listAudit(project: number, p: ProjectRef & Page & AuditFilter): Steps<AuditEntry[]> {
	const found = yield* rows(entriesOf(project, p));
	return found.map(({ actorKind, actorId, actorName, targetKind, targetId, targetName, ...entry }) => ({
		...entry,
		projectId: p.projectId,
		actor: { kind: actorKind, id: actorId, name: actorName },
		target: targetKind === null ? null : { kind: targetKind, id: targetId, name: targetName },
	}));
}

const ENTRIES = unlocked("audit", "no");

/** Deletes up to `limit` entries older than `cutoff`, oldest first. Returns how many. */
export function* sweepAudit({ cutoff, limit }: { readonly cutoff: number; readonly limit: number }): Steps<number> {
	const deleted = yield* rows(sql`
		DELETE FROM posthorn.audit
		WHERE ${ENTRIES} WHERE at < ${cutoff} ORDER BY at LIMIT ${limit}${endUnlocked} RETURNING id`);
	return deleted.length;
}
