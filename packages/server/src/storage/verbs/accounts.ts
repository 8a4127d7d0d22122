/** Accounts for the dashboard. Emails are compared in the normal form that callers pass. */
import type { Account, Credentials } from "../port/accounts.ts";
import { isTrue } from "./dialect.ts";
import { holdsSetupLink } from "./links.ts";
import { fragment, sql } from "./sql.ts";
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
export function* createOperator(
	p: NewAccount & { readonly tokenHash: Uint8Array; readonly at: number },
): Steps<"created" | "wrong_token" | "over" | "taken"> {
	// Several links may be valid, but only one operator.
	yield* lockAccounts();
	if (yield* hasOperator()) return "over";
	// Only a link's holder may learn which emails have accounts.
	if (!(yield* holdsSetupLink(p))) return "wrong_token";
	const created = yield* createAccount(p);
	if (created === "created") yield* row(sql`DELETE FROM posthorn.links WHERE token_hash = ${p.tokenHash}`);
	return created;
}

export function* getAccount({ accountId }: { readonly accountId: string }): Steps<Account | null> {
	const found = yield* row<Account>(sql`SELECT ${ACCOUNT} FROM posthorn.accounts a WHERE a.id = ${accountId}`);
	return found ?? null;
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
	yield* rows(sql`UPDATE posthorn.accounts SET name = ${p.name} WHERE id = ${p.accountId}`);
	return yield* getAccount(p);
}

/** Sets the password and ends what gave access before: sign-in links, and every session but `keepSessionId`. */
export function* setPassword({
	accountId,
	passwordHash,
	keepSessionId,
}: {
	readonly accountId: string;
	readonly passwordHash: string;
	readonly keepSessionId: string | null;
}): Steps<void> {
	yield* together(
		sql`UPDATE posthorn.accounts SET password_hash = ${passwordHash} WHERE id = ${accountId}`,
		sql`DELETE FROM posthorn.sessions WHERE account_id = ${accountId} AND id IS DISTINCT FROM ${keepSessionId}`,
		sql`DELETE FROM posthorn.links WHERE account_id = ${accountId}`,
	);
}
