import type { OneTimeLink } from "../port.ts";
import type { Session } from "./session.ts";
import { sql } from "./sql.ts";

const END_SETUP_LINKS = sql("DELETE FROM posthorn.links WHERE kind = 'setup' AND expires_at < $1");
const ADD = sql("INSERT INTO posthorn.links (token_hash, kind, expires_at, account_id) VALUES ($1, $2, $3, $4)");

export async function createLink(
	c: Session,
	link: OneTimeLink,
	tokenHash: Uint8Array,
	expiresAt: number,
): Promise<void> {
	const accountId = link.kind === "setup" ? null : link.accountId;
	await Promise.all([
		...(link.kind === "setup" ? [c.run(END_SETUP_LINKS, link.supersedes)] : []),
		c.run(ADD, tokenHash, link.kind, expiresAt, accountId),
	]);
}

const FIND_SETUP_LINK = sql(`
	SELECT FROM posthorn.links WHERE token_hash = $1 AND kind = 'setup' AND expires_at > $2`);

export async function holdsSetupLink(c: Session, tokenHash: Uint8Array, at: number): Promise<boolean> {
	return (await c.rows(FIND_SETUP_LINK, tokenHash, at)).length > 0;
}

const USE_SIGN_IN_LINK = sql(`
	DELETE FROM posthorn.links WHERE token_hash = $1 AND kind = 'sign_in' AND expires_at > $2 RETURNING account_id`);

export async function useSignInLink(c: Session, tokenHash: Uint8Array, at: number): Promise<string | null> {
	const row = await c.row<{ account_id: string }>(USE_SIGN_IN_LINK, tokenHash, at);
	return row === undefined ? null : row.account_id;
}

const EXPIRING = ["sessions", "links", "invitations"];
/** A row that somebody else holds is left for the next sweep. */
const SWEEPS = EXPIRING.map((table) =>
	sql(`
		DELETE FROM posthorn.${table}
		WHERE ctid = ANY (ARRAY(SELECT ctid FROM posthorn.${table} WHERE expires_at < $1 FOR UPDATE SKIP LOCKED))`),
);

export async function sweepExpired(c: Session, at: number): Promise<void> {
	await Promise.all(SWEEPS.map((sweep) => c.run(sweep, at)));
}
