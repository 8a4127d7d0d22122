import type { Member, Membership, Page, Role } from "../port.ts";
import { toAccount } from "./accounts.ts";
import { findProject } from "./find.ts";
import { textArray } from "./literals.ts";
import { toProject } from "./projects.ts";
import type { Row, Session } from "./session.ts";
import { sql } from "./sql.ts";

/** Each may do all that the ones before it may. */
const ROLES: readonly Role[] = ["viewer", "developer", "owner"];

/** OFFSET 0 has each project looked up by its key; in order once they are here, lest all projects are read in order. */
const OF_ACCOUNT = sql(`
	SELECT m.role, m.added_at, p.id, p.name, p.developer, p.created_at
	FROM posthorn.memberships m CROSS JOIN LATERAL (
		SELECT id, name, developer, created_at FROM posthorn.projects WHERE no = m.project_no OFFSET 0
	) p
	WHERE m.account_id = $1`);

export async function listMemberships(
	c: Session,
	accountId: string,
): Promise<(Membership & { readonly projectName: string; readonly apps: readonly string[] })[]> {
	const rows = await c.rows(OF_ACCOUNT, accountId);
	return rows
		.map((row) => {
			const { id: projectId, name: projectName, apps } = toProject(row);
			return { projectId, accountId, role: row.role as Role, addedAt: row.added_at as number, projectName, apps };
		})
		.sort((a, b) => (a.projectId < b.projectId ? -1 : 1));
}

const ROLE = sql("SELECT role FROM posthorn.memberships WHERE project_no = $1 AND account_id = $2");

export async function getRole(c: Session, projectId: string, accountId: string): Promise<Role | null> {
	const project = await findProject(c, projectId);
	const row = project === null ? undefined : await c.row<{ role: Role }>(ROLE, project, accountId);
	return row === undefined ? null : row.role;
}

const OF_PROJECT = sql(`
	SELECT m.role, m.added_at, a.id, a.email, a.name, a.operator, a.created_at
	FROM posthorn.memberships m CROSS JOIN LATERAL (
		SELECT id, email, name, operator, created_at FROM posthorn.accounts WHERE id = m.account_id OFFSET 0
	) a
	WHERE m.project_no = $1 AND m.account_id > $2 ORDER BY m.account_id LIMIT $3`);

export async function listMembers(c: Session, projectId: string, page: Page): Promise<Member[]> {
	const project = await findProject(c, projectId);
	if (project === null) return [];
	const rows = await c.rows(OF_PROJECT, project, page.after ?? "", page.limit);
	return rows.map(toMember);
}

const ONE_OF_PROJECT = sql(`
	SELECT m.role, m.added_at, a.id, a.email, a.name, a.operator, a.created_at
	FROM posthorn.memberships m CROSS JOIN LATERAL (
		SELECT id, email, name, operator, created_at FROM posthorn.accounts WHERE id = m.account_id OFFSET 0
	) a
	WHERE m.project_no = $1 AND m.account_id = $2`);

export async function getMember(c: Session, projectId: string, accountId: string): Promise<Member | null> {
	const project = await findProject(c, projectId);
	const row = project === null ? undefined : await c.row(ONE_OF_PROJECT, project, accountId);
	return row === undefined ? null : toMember(row);
}

const toMember = (row: Row): Member => ({
	account: toAccount(row),
	role: row.role as Role,
	addedAt: row.added_at as number,
});

const SET_ROLE = sql("UPDATE posthorn.memberships SET role = $3 WHERE project_no = $1 AND account_id = $2");

export async function setRole(
	c: Session,
	projectId: string,
	accountId: string,
	role: Role,
): Promise<"changed" | "no_member" | "last_owner"> {
	const member = await holdMember(c, projectId, accountId);
	if (member === null) return "no_member";
	if (member.isLastOwner && role !== "owner") return "last_owner";
	await c.run(SET_ROLE, member.project, accountId, role);
	return "changed";
}

const REMOVE = sql("DELETE FROM posthorn.memberships WHERE project_no = $1 AND account_id = $2");

export async function removeMember(
	c: Session,
	projectId: string,
	accountId: string,
): Promise<"removed" | "no_member" | "last_owner"> {
	const member = await holdMember(c, projectId, accountId);
	if (member === null) return "no_member";
	if (member.isLastOwner) return "last_owner";
	await c.run(REMOVE, member.project, accountId);
	return "removed";
}

/** Who changes members holds the project's row: two owners who step down at once must see each other. */
const HOLD = sql("SELECT FROM posthorn.projects WHERE no = $1 FOR NO KEY UPDATE");

const MEMBER = sql(`
	SELECT m.role = 'owner' AND NOT EXISTS (
		SELECT FROM posthorn.memberships other
		WHERE other.project_no = m.project_no AND other.role = 'owner' AND other.account_id <> m.account_id
	) AS is_last_owner
	FROM posthorn.memberships m WHERE m.project_no = $1 AND m.account_id = $2`);

/** Holds the members of a project until the transaction ends; null when the account is none of them. */
async function holdMember(
	c: Session,
	projectId: string,
	accountId: string,
): Promise<{ project: number; isLastOwner: boolean } | null> {
	const project = await findProject(c, projectId);
	if (project === null) return null;
	const [, row] = await Promise.all([
		c.run(HOLD, project),
		c.row<{ is_last_owner: boolean }>(MEMBER, project, accountId),
	]);
	return row === undefined ? null : { project, isLastOwner: row.is_last_owner };
}

const JOIN = sql(`
	INSERT INTO posthorn.memberships AS m (project_no, account_id, role, added_at) VALUES ($1, $2, $3, $4)
	ON CONFLICT (project_no, account_id) DO UPDATE SET role = CASE
		WHEN array_position($5::text[], excluded.role) > array_position($5::text[], m.role) THEN excluded.role
		ELSE m.role
	END
	RETURNING role, added_at`);

/** Makes the account a member, or raises its role; one that is higher already stays. */
export async function join(
	c: Session,
	project: number,
	accountId: string,
	role: Role,
	at: number,
): Promise<{ role: Role; addedAt: number }> {
	const [, row] = await Promise.all([
		c.run(HOLD, project),
		c.row<{ role: Role; added_at: number }>(JOIN, project, accountId, role, at, textArray(ROLES)),
	]);
	return { role: row!.role, addedAt: row!.added_at };
}
