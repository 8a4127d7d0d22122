import type { Account, Credentials, OneTimeLink, Session } from "../port.ts";
import { hex } from "./keys.ts";
import type { MemoryNode } from "./node.ts";

export function hasOperator({ tables }: MemoryNode): boolean {
	return [...tables.accounts.values()].some(({ account }) => account.operator);
}

export function createAccount(
	{ tables }: MemoryNode,
	account: Account,
	normalEmail: string,
	passwordHash: string,
): "created" | "taken" {
	if (tables.accounts.by.email.get(normalEmail) !== undefined) return "taken";
	tables.accounts.put({ account: { ...account }, normalEmail, passwordHash });
	return "created";
}

export function createOperator(
	node: MemoryNode,
	account: Account,
	normalEmail: string,
	passwordHash: string,
	tokenHash: Uint8Array,
	at: number,
): "created" | "wrong_token" | "over" | "taken" {
	if (hasOperator(node)) return "over";
	// Only who holds the link learns which emails have accounts.
	if (!holdsSetupLink(node, tokenHash, at)) return "wrong_token";
	const created = createAccount(node, account, normalEmail, passwordHash);
	if (created === "created") node.tables.links.delete(hex(tokenHash));
	return created;
}

export function getAccount({ tables }: MemoryNode, accountId: string): Account | null {
	const row = tables.accounts.get(accountId);
	return row === undefined ? null : { ...row.account };
}

export function findCredentials({ tables }: MemoryNode, normalEmail: string): Credentials | null {
	const row = tables.accounts.by.email.get(normalEmail);
	return row === undefined ? null : { account: { ...row.account }, passwordHash: row.passwordHash };
}

export function getCredentials({ tables }: MemoryNode, accountId: string): Credentials | null {
	const row = tables.accounts.get(accountId);
	return row === undefined ? null : { account: { ...row.account }, passwordHash: row.passwordHash };
}

export function renameAccount(node: MemoryNode, accountId: string, name: string): Account | null {
	const row = node.tables.accounts.get(accountId);
	if (row !== undefined) node.tables.accounts.put({ ...row, account: { ...row.account, name } });
	return getAccount(node, accountId);
}

export function setPassword(
	node: MemoryNode,
	accountId: string,
	passwordHash: string,
	keepSessionId: string | null,
): void {
	const row = node.tables.accounts.get(accountId);
	if (row !== undefined) node.tables.accounts.put({ ...row, passwordHash });
	for (const { id } of sessionsOf(node, accountId)) if (id !== keepSessionId) node.tables.sessions.delete(id);
}

const sessionsOf = ({ tables }: MemoryNode, accountId: string): Session[] =>
	[...tables.sessions.values()].map(({ session }) => session).filter((session) => session.accountId === accountId);

export function createSession({ tables }: MemoryNode, session: Session, tokenHash: Uint8Array): void {
	tables.sessions.put({ session: { ...session }, tokenHash: hex(tokenHash) });
}

export function findSession(
	node: MemoryNode,
	tokenHash: Uint8Array,
	at: number,
): { session: Session; account: Account } | null {
	const row = node.tables.sessions.by.token.get(hex(tokenHash));
	if (row === undefined || row.session.expiresAt <= at) return null;
	return { session: { ...row.session }, account: getAccount(node, row.session.accountId)! };
}

/** Neither moves back: requests of one session may be noted out of order. */
export function touchSession({ tables }: MemoryNode, sessionId: string, lastSeenAt: number, expiresAt: number): void {
	const row = tables.sessions.get(sessionId);
	if (row === undefined) return;
	const { session } = row;
	tables.sessions.put({
		...row,
		session: {
			...session,
			lastSeenAt: Math.max(session.lastSeenAt, lastSeenAt),
			expiresAt: Math.max(session.expiresAt, expiresAt),
		},
	});
}

export function listSessions(node: MemoryNode, accountId: string, at: number): Session[] {
	return sessionsOf(node, accountId)
		.filter(({ expiresAt }) => expiresAt > at)
		.sort((a, b) => (a.id < b.id ? 1 : -1))
		.map((session) => ({ ...session }));
}

export function deleteSession({ tables }: MemoryNode, accountId: string, sessionId: string): boolean {
	return tables.sessions.get(sessionId)?.session.accountId === accountId && tables.sessions.delete(sessionId);
}

export function deleteSessions(node: MemoryNode, accountId: string): void {
	for (const { id } of sessionsOf(node, accountId)) node.tables.sessions.delete(id);
}

export function sweepExpired({ tables: { sessions, links, invitations } }: MemoryNode, at: number): void {
	for (const { session } of [...sessions.values()]) if (session.expiresAt < at) sessions.delete(session.id);
	for (const { tokenHash, expiresAt } of [...links.values()]) if (expiresAt < at) links.delete(tokenHash);
	for (const { invitation } of [...invitations.values()])
		if (invitation.expiresAt < at) invitations.delete(invitation.id);
}

export function createLink(
	{ tables: { links } }: MemoryNode,
	link: OneTimeLink,
	tokenHash: Uint8Array,
	expiresAt: number,
): void {
	if (link.kind === "setup")
		for (const other of [...links.values()])
			if (other.link.kind === "setup" && other.expiresAt < link.supersedes) links.delete(other.tokenHash);
	links.put({ link: { ...link }, tokenHash: hex(tokenHash), expiresAt });
}

export function holdsSetupLink({ tables }: MemoryNode, tokenHash: Uint8Array, at: number): boolean {
	const row = tables.links.get(hex(tokenHash));
	return row?.link.kind === "setup" && row.expiresAt > at;
}

export function useSignInLink({ tables }: MemoryNode, tokenHash: Uint8Array, at: number): string | null {
	const row = tables.links.get(hex(tokenHash));
	if (row?.link.kind !== "sign_in" || row.expiresAt <= at) return null;
	tables.links.delete(row.tokenHash);
	return row.link.accountId;
}
