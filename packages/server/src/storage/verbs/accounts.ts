/** Accounts for the dashboard. Emails are compared in the normal form that callers pass. */
import type { Account, Credentials, OneTimeLink, Session } from "../port/accounts.ts";
import { endUnlocked, forUpdate, fragment, greatest, isTrue, joinByKey, sql, unlocked } from "./sql.ts";
import { lockAccounts, row, rows, type Steps, together } from "./verb.ts";

/** An account, of `accounts a`. */
export const ACCOUNT = fragment('a.id, a.email, a.name, a.operator, a.created_at AS "createdAt"');

export interface NewAccount {
	readonly account: Account;
	readonly normalEmail: string;
	readonly passwordHash: string;
}

/** Whether the operator has an account. */
export function* hasOperator(): Steps<boolean> {
	return (yield* row(sql`SELECT 1 FROM posthorn.accounts WHERE operator${isTrue} LIMIT 1`)) !== undefined;
}

/** `taken`: the email already has an account. */
export function* createAccount({ account, normalEmail, passwordHash }: NewAccount): Steps<"created" | "taken"> {
	const { id, email, name, operator, createdAt } = account;
	const [, [created]] = yield* together(
		sql`
			INSERT INTO posthorn.accounts (id, email, normal_email, name, operator, password_hash, created_at)
			VALUES (${id}, ${email}, ${normalEmail}, ${name}, ${operator}, ${passwordHash}, ${createdAt})
			ON CONFLICT (normal_email) DO NOTHING`,
		sql`SELECT 1 FROM posthorn.accounts WHERE id = ${id}`,
	);
	return created === undefined ? "taken" : "created";
}

/**
 * Creates the operator's account, and ends the setup link that was used. `over`: the operator already has an account.
 * `taken`: the email belongs to someone who was invited before; the link then stays valid.
 */
export function* createOperator(p: NewAccount & TokenAt): Steps<"created" | "wrong_token" | "over" | "taken"> {
	// Several links may be valid, but only one operator.
	yield* lockAccounts();
	if (yield* hasOperator()) return "over";
	// Only a link's holder may learn which emails have accounts.
	if (!(yield* holdsSetupLink(p))) return "wrong_token";
	const created = yield* createAccount(p);
	if (created === "created") yield* row(sql`DELETE FROM posthorn.links WHERE token_hash = ${p.tokenHash}`);
	return created;
}

type CredentialsRow = Account & { readonly passwordHash: string };
const toCredentials = (found: CredentialsRow | undefined): Credentials | null => {
	if (found === undefined) return null;
	const { passwordHash, ...account } = found;
	return { account, passwordHash };
};

export function* findCredentials({ normalEmail }: { readonly normalEmail: string }): Steps<Credentials | null> {
	// Sign-in passes on what the user typed, and PostgreSQL's text has no NUL.
	if (normalEmail.includes("\0")) return null;
	const found = yield* row<CredentialsRow>(sql`
		SELECT ${ACCOUNT}, a.password_hash AS "passwordHash" FROM posthorn.accounts a
		WHERE a.normal_email = ${normalEmail}`);
	return toCredentials(found);
}

export function* getCredentials({ accountId }: { readonly accountId: string }): Steps<Credentials | null> {
	const found = yield* row<CredentialsRow>(sql`
		SELECT ${ACCOUNT}, a.password_hash AS "passwordHash" FROM posthorn.accounts a WHERE a.id = ${accountId}`);
	return toCredentials(found);
}

/** Null if there is no such account. */
export function* renameAccount(p: { readonly accountId: string; readonly name: string }): Steps<Account | null> {
	const [, [renamed]] = yield* together(
		sql`UPDATE posthorn.accounts SET name = ${p.name} WHERE id = ${p.accountId}`,
		sql<Account>`SELECT ${ACCOUNT} FROM posthorn.accounts a WHERE a.id = ${p.accountId}`,
	);
	return renamed ?? null;
}

/** The account's password hash, which stays until the transaction ends. */
function* holdPassword(accountId: string): Steps<string | undefined> {
	const found = yield* row<{ hash: string }>(sql`
		SELECT password_hash AS hash FROM posthorn.accounts WHERE id = ${accountId}${forUpdate}`);
	return found?.hash;
}

/**
 * Sets the password and ends what gave access before: sign-in links, and every session but `keepSessionId`.
 *
 * Does nothing if that session has ended, or no longer allows a password without the old one.
 *
 * @param byLink whether the old password wasn't given, because the session was begun by a link
 */
export function* setPassword({
	accountId,
	passwordHash,
	keepSessionId,
	byLink = false,
}: {
	readonly accountId: string;
	readonly passwordHash: string;
	readonly keepSessionId: string | null;
	readonly byLink?: boolean;
}): Steps<"changed" | "ended" | "current_needed"> {
	yield* holdPassword(accountId);
	if (keepSessionId !== null) {
		const kept = yield* row<Pick<Session, "byLink">>(sql`
			SELECT by_link AS "byLink" FROM posthorn.sessions WHERE id = ${keepSessionId} AND account_id = ${accountId}`);
		if (kept === undefined) return "ended";
		if (byLink && !kept.byLink) return "current_needed";
	}
	yield* together(
		sql`UPDATE posthorn.accounts SET password_hash = ${passwordHash} WHERE id = ${accountId}`,
		// Signing in by link allows one new password without the old one.
		sql`UPDATE posthorn.sessions SET by_link = ${false} WHERE id = ${keepSessionId}`,
		sql`DELETE FROM posthorn.sessions WHERE account_id = ${accountId} AND id IS DISTINCT FROM ${keepSessionId}`,
		sql`DELETE FROM posthorn.links WHERE account_id = ${accountId}`,
	);
	return "changed";
}

/** A session, of `sessions s`. */
const SESSION = fragment(`
	s.id, s.account_id AS "accountId", s.created_at AS "createdAt", s.last_seen_at AS "lastSeenAt",
	s.expires_at AS "expiresAt", s.by_link AS "byLink", s.user_agent AS "userAgent", s.address`);

export interface NewSession extends Session {
	readonly tokenHash: Uint8Array;
	readonly maxPerAccount: number;
	/** The hash that the password was checked with, which must still be the account's. */
	readonly passwordHash?: string | undefined;
}

/** A session that ends this much later than a new one was begun or extended by a clock that was ahead, milliseconds. */
const AHEAD_MS = 86_400_000;

/**
 * Ends the account's oldest sessions beyond `maxPerAccount`. Also ends those that were begun or extended while the clock
 * was ahead: they would last too long, and be the last to make room. Clocks less than a day apart don't count: signing in
 * through a node whose clock is behind would end all others.
 *
 * @returns false, having done nothing, if the account has another password by now
 */
export function* createSession(p: NewSession): Steps<boolean> {
	const { accountId, maxPerAccount, passwordHash } = p;
	if (passwordHash !== undefined && (yield* holdPassword(accountId)) !== passwordHash) return false;
	yield* row(sql`
		DELETE FROM posthorn.sessions WHERE account_id = ${accountId} AND expires_at > ${p.expiresAt + AHEAD_MS}`);
	// Before the new one, which isn't the latest by its id if the clock was ahead.
	yield* row(sql`
		DELETE FROM posthorn.sessions WHERE account_id = ${accountId} AND id <= (
			SELECT id FROM posthorn.sessions WHERE account_id = ${accountId}
			ORDER BY id DESC LIMIT 1 OFFSET ${maxPerAccount - 1})`);
	yield* row(sql`
		INSERT INTO posthorn.sessions (
			id, token_hash, account_id, created_at, last_seen_at, expires_at, by_link, user_agent, address)
		VALUES (
			${p.id}, ${p.tokenHash}, ${p.accountId}, ${p.createdAt}, ${p.lastSeenAt}, ${p.expiresAt}, ${p.byLink},
			${p.userAgent}, ${p.address})`);
	return true;
}

const ITS_ACCOUNT = joinByKey("accounts a", "a.id = s.account_id");

/** A session that hasn't expired at `at`, with its account. Read for every request of a signed-in user. */
export function* findSession(p: TokenAt): Steps<{ session: Session; account: Account } | null> {
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

export interface TokenAt {
	readonly tokenHash: Uint8Array;
	readonly at: number;
}

/** A setup link ends those that expire before its `supersedes`. */
export function* createLink(
	p: OneTimeLink & { readonly tokenHash: Uint8Array; readonly expiresAt: number },
): Steps<void> {
	const { kind, tokenHash, expiresAt } = p;
	if (kind === "setup")
		yield* row(sql`DELETE FROM posthorn.links WHERE kind = 'setup' AND expires_at < ${p.supersedes}`);
	const accountId = kind === "setup" ? null : p.accountId;
	yield* row(sql`
		INSERT INTO posthorn.links (token_hash, kind, account_id, expires_at)
		VALUES (${tokenHash}, ${kind}, ${accountId}, ${expiresAt})`);
}

/** Whether this is a setup link that hasn't expired at `at`. */
export function* holdsSetupLink({ tokenHash, at }: TokenAt): Steps<boolean> {
	const found = yield* row(sql`
		SELECT 1 FROM posthorn.links WHERE token_hash = ${tokenHash} AND kind = 'setup' AND expires_at > ${at}`);
	return found !== undefined;
}

/** A sign-in link that is valid for longer than this was created while the clock was ahead, milliseconds. */
const LONGEST_LINK_MS = 86_400_000;

/**
 * Ends a sign-in link. Returns whom it signs in, or null if it is unknown, used or expired. A link that was created while
 * the clock was ahead is refused, too: it would be valid until the time that the clock showed.
 */
export function* useSignInLink({ tokenHash, at }: TokenAt): Steps<Credentials | null> {
	const used = yield* row<{ accountId: string }>(sql`
		DELETE FROM posthorn.links WHERE token_hash = ${tokenHash} AND kind = 'sign_in' AND expires_at > ${at}
			AND expires_at <= ${at + LONGEST_LINK_MS}
		RETURNING account_id AS "accountId"`);
	return used === undefined ? null : yield* getCredentials(used);
}
