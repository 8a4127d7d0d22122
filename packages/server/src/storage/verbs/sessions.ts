import type { Account, Session } from "../port/accounts.ts";
import { endUnlocked, greatest, joinByKey, unlocked } from "./dialect.ts";
import { fragment, sql } from "./sql.ts";
import { row, rows, type Steps, together } from "./verb.ts";

/** A session, of `sessions s`. */
const SESSION = fragment(`
	s.id, s.account_id AS "accountId", s.created_at AS "createdAt", s.last_seen_at AS "lastSeenAt",
	s.expires_at AS "expiresAt", s.by_link AS "byLink", s.user_agent AS "userAgent", s.address`);

/** Ends the account's oldest sessions if it has more than `maxPerAccount`. */
export function* createSession(
	p: Session & { readonly tokenHash: Uint8Array; readonly maxPerAccount: number },
): Steps<void> {
	const { accountId, maxPerAccount } = p;
	yield* row(sql`
		INSERT INTO posthorn.sessions (
			id, token_hash, account_id, created_at, last_seen_at, expires_at, by_link, user_agent, address)
		VALUES (
			${p.id}, ${p.tokenHash}, ${p.accountId}, ${p.createdAt}, ${p.lastSeenAt}, ${p.expiresAt}, ${p.byLink},
			${p.userAgent}, ${p.address})`);
	yield* row(sql`
		DELETE FROM posthorn.sessions WHERE account_id = ${accountId} AND id <= (
			SELECT id FROM posthorn.sessions WHERE account_id = ${accountId}
			ORDER BY id DESC LIMIT 1 OFFSET ${maxPerAccount})`);
}

const ITS_ACCOUNT = joinByKey("accounts a", "a.id = s.account_id");

/** A session that hasn't expired at `at`, with its account. Read for every request of a signed-in user. */
export function* findSession(p: {
	readonly tokenHash: Uint8Array;
	readonly at: number;
}): Steps<{ session: Session; account: Account } | null> {
	const found = yield* row<Session & Omit<Account, "id" | "createdAt"> & { readonly accountCreatedAt: number }>(sql`
		SELECT ${SESSION}, a.email, a.name, a.operator, a.created_at AS "accountCreatedAt"
		FROM posthorn.sessions s ${ITS_ACCOUNT} WHERE s.token_hash = ${p.tokenHash} AND s.expires_at > ${p.at}`);
	if (found === undefined) return null;
	const { email, name, operator, accountCreatedAt, ...session } = found;
	return { session, account: { id: session.accountId, email, name, operator, createdAt: accountCreatedAt } };
}

/** Records a use of the session and extends it. Neither time moves back: requests may be recorded out of order. */
export function* touchSession(p: {
	readonly sessionId: string;
	readonly lastSeenAt: number;
	readonly expiresAt: number;
}): Steps<void> {
	yield* row(sql`
		UPDATE posthorn.sessions
		SET last_seen_at = ${greatest}(last_seen_at, ${p.lastSeenAt}), expires_at = ${greatest}(expires_at, ${p.expiresAt})
		WHERE id = ${p.sessionId}`);
}

/** An account's sessions that haven't expired at `at`, newest first. */
export function* listSessions(p: { readonly accountId: string; readonly at: number }): Steps<Session[]> {
	return yield* rows<Session>(sql`
		SELECT ${SESSION} FROM posthorn.sessions s
		WHERE s.account_id = ${p.accountId} AND s.expires_at > ${p.at} ORDER BY s.id DESC`);
}

/** False if the account has no such session. */
export function* deleteSession(p: { readonly accountId: string; readonly sessionId: string }): Steps<boolean> {
	const deleted = yield* rows(sql`
		DELETE FROM posthorn.sessions WHERE id = ${p.sessionId} AND account_id = ${p.accountId} RETURNING id`);
	return deleted.length === 1;
}

export function* deleteSessions({ accountId }: { readonly accountId: string }): Steps<void> {
	yield* row(sql`DELETE FROM posthorn.sessions WHERE account_id = ${accountId}`);
}

const SESSIONS = unlocked("sessions", "id");
const LINKS = unlocked("links", "token_hash");
const INVITATIONS = unlocked("invitations", "id");

/** Deletes sessions, links and invitations that expired before `at`. Locked rows are left for the next sweep. */
export function* sweepExpired({ at }: { readonly at: number }): Steps<void> {
	yield* together(
		sql`DELETE FROM posthorn.sessions WHERE ${SESSIONS} WHERE expires_at < ${at}${endUnlocked}`,
		sql`DELETE FROM posthorn.links WHERE ${LINKS} WHERE expires_at < ${at}${endUnlocked}`,
		sql`DELETE FROM posthorn.invitations WHERE ${INVITATIONS} WHERE expires_at < ${at}${endUnlocked}`,
	);
}
