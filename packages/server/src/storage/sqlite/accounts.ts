import type { Account, Credentials } from "../port.ts";
import type { Connection } from "./connection.ts";
import { holdsSetupLink } from "./links.ts";

const ACCOUNT = "id, email, name, operator, created_at";

export const toAccount = (row: Record<string, unknown>): Account => ({
	id: row.id as string,
	email: row.email as string,
	name: row.name as string,
	operator: row.operator === 1,
	createdAt: row.created_at as number,
});

export function hasOperator(c: Connection): boolean {
	return c.sql("SELECT 1 FROM accounts WHERE operator = 1 LIMIT 1").get() !== undefined;
}

export function createAccount(
	c: Connection,
	account: Account,
	normalEmail: string,
	passwordHash: string,
): "created" | "taken" {
	const { changes } = c
		.sql(`
			INSERT INTO accounts (id, email, normal_email, name, operator, password_hash, created_at)
			VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (normal_email) DO NOTHING`)
		.run(
			account.id,
			account.email,
			normalEmail,
			account.name,
			account.operator ? 1 : 0,
			passwordHash,
			account.createdAt,
		);
	return changes === 1 ? "created" : "taken";
}

export function createOperator(
	c: Connection,
	account: Account,
	normalEmail: string,
	passwordHash: string,
	tokenHash: Uint8Array,
	at: number,
): "created" | "wrong_token" | "over" | "taken" {
	if (hasOperator(c)) return "over";
	// Only who holds the link learns which emails have accounts.
	if (!holdsSetupLink(c, tokenHash, at)) return "wrong_token";
	if (c.sql("SELECT 1 FROM accounts WHERE normal_email = ?").get(normalEmail) !== undefined) return "taken";
	c.sql("DELETE FROM links WHERE token_hash = ?").run(tokenHash);
	return createAccount(c, account, normalEmail, passwordHash);
}

export function getAccount(c: Connection, accountId: string): Account | null {
	const row = c.sql(`SELECT ${ACCOUNT} FROM accounts WHERE id = ?`).get(accountId);
	return row === undefined ? null : toAccount(row);
}

export function findCredentials(c: Connection, normalEmail: string): Credentials | null {
	return toCredentials(c.sql(`SELECT ${ACCOUNT}, password_hash FROM accounts WHERE normal_email = ?`).get(normalEmail));
}

export function getCredentials(c: Connection, accountId: string): Credentials | null {
	return toCredentials(c.sql(`SELECT ${ACCOUNT}, password_hash FROM accounts WHERE id = ?`).get(accountId));
}

const toCredentials = (row: Record<string, unknown> | undefined): Credentials | null =>
	row === undefined ? null : { account: toAccount(row), passwordHash: row.password_hash as string };

export function renameAccount(c: Connection, accountId: string, name: string): Account | null {
	c.sql("UPDATE accounts SET name = ? WHERE id = ?").run(name, accountId);
	return getAccount(c, accountId);
}

export function setPassword(
	c: Connection,
	accountId: string,
	passwordHash: string,
	keepSessionId: string | null,
): void {
	c.sql("UPDATE accounts SET password_hash = ? WHERE id = ?").run(passwordHash, accountId);
	c.sql("DELETE FROM sessions WHERE account_id = ? AND id IS NOT ?").run(accountId, keepSessionId);
}
