import type { OneTimeLink } from "../port/accounts.ts";
import { sql } from "./sql.ts";
import { row, type Steps } from "./verb.ts";

interface TokenAt {
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

/** Ends a sign-in link. Returns the account that it signs in to, or null if it is unknown, used or expired. */
export function* useSignInLink({ tokenHash, at }: TokenAt): Steps<string | null> {
	const used = yield* row<{ accountId: string }>(sql`
		DELETE FROM posthorn.links WHERE token_hash = ${tokenHash} AND kind = 'sign_in' AND expires_at > ${at}
		RETURNING account_id AS "accountId"`);
	return used?.accountId ?? null;
}
