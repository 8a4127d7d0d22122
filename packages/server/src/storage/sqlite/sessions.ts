import type { Account, Session } from "../port.ts";
import { getAccount } from "./accounts.ts";
import type { Connection } from "./connection.ts";

const SESSION = "id, account_id, created_at, last_seen_at, expires_at, by_link, user_agent, address";

const toSession = (row: Record<string, unknown>): Session => ({
	id: row.id as string,
	accountId: row.account_id as string,
	createdAt: row.created_at as number,
	lastSeenAt: row.last_seen_at as number,
	expiresAt: row.expires_at as number,
	byLink: row.by_link === 1,
	userAgent: row.user_agent as string,
	address: row.address as string,
});

export function createSession(c: Connection, session: Session, tokenHash: Uint8Array): void {
	c.sql(`INSERT INTO sessions (token_hash, ${SESSION}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`).run(
		tokenHash,
		session.id,
		session.accountId,
		session.createdAt,
		session.lastSeenAt,
		session.expiresAt,
		session.byLink ? 1 : 0,
		session.userAgent,
		session.address,
	);
}

export function findSession(
	c: Connection,
	tokenHash: Uint8Array,
	at: number,
): { session: Session; account: Account } | null {
	const row = c.sql(`SELECT ${SESSION} FROM sessions WHERE token_hash = ? AND expires_at > ?`).get(tokenHash, at);
	if (row === undefined) return null;
	const session = toSession(row);
	const account = getAccount(c, session.accountId);
	if (account === null)
		throw new Error(`Session ${session.id} is of account ${session.accountId}, which is not there.`);
	return { session, account };
}

/** Neither moves back: requests of one session may be noted out of order. */
export function touchSession(c: Connection, sessionId: string, lastSeenAt: number, expiresAt: number): void {
	c.sql("UPDATE sessions SET last_seen_at = max(last_seen_at, ?), expires_at = max(expires_at, ?) WHERE id = ?").run(
		lastSeenAt,
		expiresAt,
		sessionId,
	);
}

export function listSessions(c: Connection, accountId: string, at: number): Session[] {
	return c
		.sql(`SELECT ${SESSION} FROM sessions WHERE account_id = ? AND expires_at > ? ORDER BY id DESC`)
		.all(accountId, at)
		.map(toSession);
}

export function deleteSession(c: Connection, accountId: string, sessionId: string): boolean {
	return c.sql("DELETE FROM sessions WHERE id = ? AND account_id = ?").run(sessionId, accountId).changes === 1;
}

export function deleteSessions(c: Connection, accountId: string): void {
	c.sql("DELETE FROM sessions WHERE account_id = ?").run(accountId);
}
