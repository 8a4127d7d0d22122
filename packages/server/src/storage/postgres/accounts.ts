import type { Account, Credentials } from "../port.ts";
import { holdsSetupLink } from "./links.ts";
import type { Row, Session } from "./session.ts";
import { sql } from "./sql.ts";

/** What {@link toAccount} needs of `accounts`. */
export const ACCOUNT_COLUMNS = "id, email, name, operator, created_at";

export const toAccount = (row: Row): Account => ({
	id: row.id as string,
	email: row.email as string,
	name: row.name as string,
	operator: row.operator as boolean,
	createdAt: row.created_at as number,
});

const OPERATOR = sql("SELECT FROM posthorn.accounts WHERE operator LIMIT 1");

export async function hasOperator(c: Session): Promise<boolean> {
	return (await c.rows(OPERATOR)).length > 0;
}

const CREATE = sql(`
	INSERT INTO posthorn.accounts (id, email, normal_email, name, operator, password_hash, created_at)
	VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (normal_email) DO NOTHING`);

export async function createAccount(
	c: Session,
	{ id, email, name, operator, createdAt }: Account,
	normalEmail: string,
	passwordHash: string,
): Promise<"created" | "taken"> {
	const made = await c.run(CREATE, id, email, normalEmail, name, operator, passwordHash, createdAt);
	return made === 1 ? "created" : "taken";
}

/** Held by who makes the operator's account: there may be several links, and one operator ("posthorn", as a number). */
const LOCK = sql("SELECT pg_advisory_xact_lock(8102087430316384820)");
const END_LINK = sql("DELETE FROM posthorn.links WHERE token_hash = $1");

/**
 * Whoever comes looks for an operator after all that came before: of several at once, one becomes it. Who has no link is
 * not told whose email is taken.
 */
export async function createOperator(
	c: Session,
	account: Account,
	normalEmail: string,
	passwordHash: string,
	tokenHash: Uint8Array,
	at: number,
): Promise<"created" | "wrong_token" | "over" | "taken"> {
	const [, isOver, mayCome] = await Promise.all([c.run(LOCK), hasOperator(c), holdsSetupLink(c, tokenHash, at)]);
	if (isOver) return "over";
	if (!mayCome) return "wrong_token";
	const made = await createAccount(c, account, normalEmail, passwordHash);
	if (made === "created") await c.run(END_LINK, tokenHash);
	return made;
}

const GET = sql(`SELECT ${ACCOUNT_COLUMNS} FROM posthorn.accounts WHERE id = $1`);

export async function getAccount(c: Session, accountId: string): Promise<Account | null> {
	const row = await c.row(GET, accountId);
	return row === undefined ? null : toAccount(row);
}

const CREDENTIALS_BY_EMAIL = sql(`
	SELECT ${ACCOUNT_COLUMNS}, password_hash FROM posthorn.accounts WHERE normal_email = $1`);

export async function findCredentials(c: Session, normalEmail: string): Promise<Credentials | null> {
	// What somebody typed to sign in; PostgreSQL refuses to be asked for what none of its texts can hold.
	if (normalEmail.includes("\0")) return null;
	return toCredentials(await c.row(CREDENTIALS_BY_EMAIL, normalEmail));
}

const CREDENTIALS = sql(`SELECT ${ACCOUNT_COLUMNS}, password_hash FROM posthorn.accounts WHERE id = $1`);

export async function getCredentials(c: Session, accountId: string): Promise<Credentials | null> {
	return toCredentials(await c.row(CREDENTIALS, accountId));
}

const toCredentials = (row: Row | undefined): Credentials | null =>
	row === undefined ? null : { account: toAccount(row), passwordHash: row.password_hash as string };

const RENAME = sql(`UPDATE posthorn.accounts SET name = $2 WHERE id = $1 RETURNING ${ACCOUNT_COLUMNS}`);

export async function renameAccount(c: Session, accountId: string, name: string): Promise<Account | null> {
	const row = await c.row(RENAME, accountId, name);
	return row === undefined ? null : toAccount(row);
}

const SET_PASSWORD = sql("UPDATE posthorn.accounts SET password_hash = $2 WHERE id = $1");
const END_OTHERS = sql("DELETE FROM posthorn.sessions WHERE account_id = $1 AND id IS DISTINCT FROM $2");

export async function setPassword(
	c: Session,
	accountId: string,
	passwordHash: string,
	keepSessionId: string | null,
): Promise<void> {
	await Promise.all([c.run(SET_PASSWORD, accountId, passwordHash), c.run(END_OTHERS, accountId, keepSessionId)]);
}
