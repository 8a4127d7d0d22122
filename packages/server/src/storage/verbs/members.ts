/**
 * Members of a project. Changing them locks the project's row, so that two owners who step down concurrently see each
 * other.
 */
import type { Account, Member, Membership } from "../port/accounts.ts";
import type { Page } from "../port/registry.ts";
import { mayAs, type Role } from "../port/roles.ts";
import { ACCOUNT } from "./accounts.ts";
import { forUpdate, joinByKey } from "./dialect.ts";
import { fragment, sql } from "./sql.ts";
import { findProject, row, rows, type Steps, together } from "./verb.ts";

export interface MemberOf {
	readonly projectId: string;
	readonly accountId: string;
}

/** A membership as the account sees it. */
export interface ProjectMembership extends Membership {
	readonly projectName: string;
	readonly apps: readonly string[];
}

const PROJECT = joinByKey("projects p", "p.no = m.project_no");

/** The projects that an account is a member of, by project id. */
export function* listMemberships({ accountId }: { readonly accountId: string }): Steps<ProjectMembership[]> {
	const found = yield* rows<{ id: string; name: string; developer: boolean; role: Role; addedAt: number }>(sql`
		SELECT p.id, p.name, p.developer, m.role, m.added_at AS "addedAt"
		FROM posthorn.memberships m ${PROJECT} WHERE m.account_id = ${accountId}`);
	return found
		.map(({ id, name, developer, role, addedAt }) => {
			return { projectId: id, accountId, role, addedAt, projectName: name, apps: developer ? ["developer"] : [] };
		})
		.sort((a, b) => (a.projectId < b.projectId ? -1 : 1));
}

export function* getRole({ projectId, accountId }: MemberOf): Steps<Role | null> {
	const project = yield* findProject(projectId);
	const found = yield* row<{ role: Role }>(sql`
		SELECT role FROM posthorn.memberships WHERE project_no = ${project} AND account_id = ${accountId}`);
	return found?.role ?? null;
}

type MemberRow = Account & Omit<Member, "account">;
const MEMBER = fragment('m.role, m.added_at AS "addedAt"');
const ITS_ACCOUNT = joinByKey("accounts a", "a.id = m.account_id");
const toMember = ({ role, addedAt, ...account }: MemberRow): Member => ({ account, role, addedAt });

/** By account id. */
export function* listMembers({ projectId, after = "", limit }: Page & { readonly projectId: string }): Steps<Member[]> {
	const project = yield* findProject(projectId);
	const found = yield* rows<MemberRow>(sql`
		SELECT ${MEMBER}, ${ACCOUNT} FROM posthorn.memberships m ${ITS_ACCOUNT}
		WHERE m.project_no = ${project} AND m.account_id > ${after} ORDER BY m.account_id LIMIT ${limit}`);
	return found.map(toMember);
}

export function* getMember({ projectId, accountId }: MemberOf): Steps<Member | null> {
	const project = yield* findProject(projectId);
	const found = yield* row<MemberRow>(sql`
		SELECT ${MEMBER}, ${ACCOUNT} FROM posthorn.memberships m ${ITS_ACCOUNT}
		WHERE m.project_no = ${project} AND m.account_id = ${accountId}`);
	return found === undefined ? null : toMember(found);
}

/** `last_owner`: refused, because the project would have no owner left. */
export function* setRole(p: MemberOf & { readonly role: Role }): Steps<"changed" | "no_member" | "last_owner"> {
	const project = yield* findProject(p.projectId);
	const member = yield* holdMember(project, p.accountId);
	if (member === null) return "no_member";
	if (member.isLastOwner && p.role !== "owner") return "last_owner";
	yield* changeRole(project, p.accountId, p.role);
	return "changed";
}

/** `last_owner`: refused, because the project would have no owner left. */
export function* removeMember({ projectId, accountId }: MemberOf): Steps<"removed" | "no_member" | "last_owner"> {
	const project = yield* findProject(projectId);
	const member = yield* holdMember(project, accountId);
	if (member === null) return "no_member";
	if (member.isLastOwner) return "last_owner";
	yield* row(sql`DELETE FROM posthorn.memberships WHERE project_no = ${project} AND account_id = ${accountId}`);
	return "removed";
}

/** Makes the account a member, or raises its role; a higher role stays. */
export function* join(
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

function* changeRole(project: number | null, accountId: string, role: Role): Steps<void> {
	yield* row(sql`
		UPDATE posthorn.memberships SET role = ${role} WHERE project_no = ${project} AND account_id = ${accountId}`);
}

/** Locks the project's members until the transaction ends; null if the account isn't a member. */
function* holdMember(
	project: number | null,
	accountId: string,
): Steps<{ readonly role: Role; readonly addedAt: number; readonly isLastOwner: boolean } | null> {
	const [, owners, [member]] = yield* together(
		sql`SELECT 1 FROM posthorn.projects WHERE no = ${project}${forUpdate}`,
		sql`SELECT account_id FROM posthorn.memberships WHERE project_no = ${project} AND role = 'owner' LIMIT 2`,
		sql<{ role: Role; addedAt: number }>`
			SELECT ${MEMBER} FROM posthorn.memberships m WHERE m.project_no = ${project} AND m.account_id = ${accountId}`,
	);
	return member === undefined ? null : { ...member, isLastOwner: member.role === "owner" && owners.length === 1 };
}
