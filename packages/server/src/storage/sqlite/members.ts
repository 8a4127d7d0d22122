import type { Member, Membership, Page, Role } from "../port.ts";
import { toAccount } from "./accounts.ts";
import type { Connection } from "./connection.ts";

/** Each may do all that the ones before it may. */
const ROLES: readonly Role[] = ["viewer", "developer", "owner"];

export function listMemberships(
	c: Connection,
	accountId: string,
): (Membership & { readonly projectName: string; readonly apps: readonly string[] })[] {
	const rows = c
		.sql(`
			SELECT m.role, m.added_at, p.id, p.name, p.developer
			FROM memberships m JOIN projects p ON p.no = m.project_no WHERE m.account_id = ?`)
		.all(accountId);
	return rows
		.map((row) => ({
			projectId: row.id as string,
			accountId,
			role: row.role as Role,
			addedAt: row.added_at as number,
			projectName: row.name as string,
			apps: row.developer === 1 ? ["developer"] : [],
		}))
		.sort((a, b) => (a.projectId < b.projectId ? -1 : 1));
}

export function getRole(c: Connection, projectId: string, accountId: string): Role | null {
	return readMembership(c, c.names.project(projectId), accountId)?.role ?? null;
}

export function listMembers(c: Connection, projectId: string, page: Page): Member[] {
	return c
		.sql(`
			SELECT m.role, m.added_at, a.id, a.email, a.name, a.operator, a.created_at
			FROM memberships m JOIN accounts a ON a.id = m.account_id
			WHERE m.project_no = ? AND m.account_id > ? ORDER BY m.account_id LIMIT ?`)
		.all(c.names.project(projectId), page.after ?? "", page.limit)
		.map(toMember);
}

export function getMember(c: Connection, projectId: string, accountId: string): Member | null {
	const row = c
		.sql(`
			SELECT m.role, m.added_at, a.id, a.email, a.name, a.operator, a.created_at
			FROM memberships m JOIN accounts a ON a.id = m.account_id WHERE m.project_no = ? AND m.account_id = ?`)
		.get(c.names.project(projectId), accountId);
	return row === undefined ? null : toMember(row);
}

const toMember = (row: Record<string, unknown>): Member => ({
	account: toAccount(row),
	role: row.role as Role,
	addedAt: row.added_at as number,
});

export function setRole(
	c: Connection,
	projectId: string,
	accountId: string,
	role: Role,
): "changed" | "no_member" | "last_owner" {
	const project = c.names.project(projectId);
	const member = readMembership(c, project, accountId);
	if (project === null || member === null) return "no_member";
	if (member.role === "owner" && role !== "owner" && !hasOtherOwner(c, project, accountId)) return "last_owner";
	c.sql("UPDATE memberships SET role = ? WHERE project_no = ? AND account_id = ?").run(role, project, accountId);
	return "changed";
}

export function removeMember(
	c: Connection,
	projectId: string,
	accountId: string,
): "removed" | "no_member" | "last_owner" {
	const project = c.names.project(projectId);
	const member = readMembership(c, project, accountId);
	if (project === null || member === null) return "no_member";
	if (member.role === "owner" && !hasOtherOwner(c, project, accountId)) return "last_owner";
	c.sql("DELETE FROM memberships WHERE project_no = ? AND account_id = ?").run(project, accountId);
	return "removed";
}

/** Makes the account a member, or raises its role; one that is higher already stays. */
export function join(
	c: Connection,
	project: number,
	accountId: string,
	role: Role,
	at: number,
): { role: Role; addedAt: number } {
	const member = readMembership(c, project, accountId);
	if (member === null) {
		c.sql("INSERT INTO memberships (project_no, account_id, role, added_at) VALUES (?, ?, ?, ?)").run(
			project,
			accountId,
			role,
			at,
		);
		return { role, addedAt: at };
	}
	if (ROLES.indexOf(member.role) >= ROLES.indexOf(role)) return member;
	c.sql("UPDATE memberships SET role = ? WHERE project_no = ? AND account_id = ?").run(role, project, accountId);
	return { role, addedAt: member.addedAt };
}

function readMembership(
	c: Connection,
	project: number | null,
	accountId: string,
): { role: Role; addedAt: number } | null {
	const row = c
		.sql("SELECT role, added_at FROM memberships WHERE project_no = ? AND account_id = ?")
		.get(project, accountId);
	return row === undefined ? null : { role: row.role as Role, addedAt: row.added_at as number };
}

function hasOtherOwner(c: Connection, project: number, accountId: string): boolean {
	const row = c
		.sql("SELECT 1 FROM memberships WHERE project_no = ? AND role = 'owner' AND account_id <> ? LIMIT 1")
		.get(project, accountId);
	return row !== undefined;
}
