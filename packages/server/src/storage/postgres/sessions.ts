import type * as port from "../port.ts";
import { toAccount } from "./accounts.ts";
import type { Row, Session } from "./session.ts";
import { sql } from "./sql.ts";

const COLUMNS = "id, account_id, created_at, last_seen_at, expires_at, by_link, user_agent, address";

const toSession = (row: Row): port.Session => ({
	id: row.id as string,
	accountId: row.account_id as string,
	createdAt: row.created_at as number,
	lastSeenAt: row.last_seen_at as number,
	expiresAt: row.expires_at as number,
	byLink: row.by_link as boolean,
	userAgent: row.user_agent as string,
	address: row.address as string,
});

const CREATE = sql(`
	INSERT INTO posthorn.sessions (token_hash, ${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`);

export async function createSession(c: Session, session: port.Session, tokenHash: Uint8Array): Promise<void> {
	const { id, accountId, createdAt, lastSeenAt, expiresAt, byLink, userAgent, address } = session;
	await c.run(CREATE, tokenHash, id, accountId, createdAt, lastSeenAt, expiresAt, byLink, userAgent, address);
}

/** Every request of somebody who is signed in asks this. OFFSET 0 has the account looked up by its key. */
const FIND = sql(`
	SELECT s.id, s.account_id, s.created_at, s.last_seen_at, s.expires_at, s.by_link, s.user_agent, s.address,
		a.email, a.name, a.operator, a.created_at AS account_created_at
	FROM posthorn.sessions s CROSS JOIN LATERAL (
		SELECT email, name, operator, created_at FROM posthorn.accounts WHERE id = s.account_id OFFSET 0
	) a
	WHERE s.token_hash = $1 AND s.expires_at > $2`);

export async function findSession(
	c: Session,
	tokenHash: Uint8Array,
	at: number,
): Promise<{ session: port.Session; account: port.Account } | null> {
	const row = await c.row(FIND, tokenHash, at);
	if (row === undefined) return null;
	const account = toAccount({ ...row, id: row.account_id, created_at: row.account_created_at });
	return { session: toSession(row), account };
}

/** Neither moves back: requests of one session may be noted out of order. */
const TOUCH = sql(`
	UPDATE posthorn.sessions SET last_seen_at = greatest(last_seen_at, $2), expires_at = greatest(expires_at, $3)
	WHERE id = $1`);

export async function touchSession(
	c: Session,
	sessionId: string,
	lastSeenAt: number,
	expiresAt: number,
): Promise<void> {
	await c.run(TOUCH, sessionId, lastSeenAt, expiresAt);
}

const LIST = sql(`
	SELECT ${COLUMNS} FROM posthorn.sessions WHERE account_id = $1 AND expires_at > $2 ORDER BY id DESC`);

export async function listSessions(c: Session, accountId: string, at: number): Promise<port.Session[]> {
	return (await c.rows(LIST, accountId, at)).map(toSession);
}

const DELETE = sql("DELETE FROM posthorn.sessions WHERE id = $2 AND account_id = $1");

export async function deleteSession(c: Session, accountId: string, sessionId: string): Promise<boolean> {
	return (await c.run(DELETE, accountId, sessionId)) === 1;
}

const DELETE_ALL = sql("DELETE FROM posthorn.sessions WHERE account_id = $1");

export async function deleteSessions(c: Session, accountId: string): Promise<void> {
	await c.run(DELETE_ALL, accountId);
}
