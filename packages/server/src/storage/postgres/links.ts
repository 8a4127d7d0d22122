import type { OneTimeLink } from "../port.ts";
import type { Session } from "./session.ts";
import { sql } from "./sql.ts";

/** In one statement, so that links made at the same time replace each other. */
const SET_SETUP_LINK = sql(`
	INSERT INTO posthorn.links (token_hash, kind, expires_at) VALUES ($1, 'setup', $2)
	ON CONFLICT (kind) WHERE kind = 'setup'
	DO UPDATE SET token_hash = excluded.token_hash, expires_at = excluded.expires_at`);
const ADD_SIGN_IN_LINK = sql(`
	INSERT INTO posthorn.links (token_hash, kind, expires_at, account_id) VALUES ($1, 'sign_in', $2, $3)`);

export async function createLink(
	c: Session,
	link: OneTimeLink,
	tokenHash: Uint8Array,
	expiresAt: number,
): Promise<void> {
	if (link.kind === "setup") await c.run(SET_SETUP_LINK, tokenHash, expiresAt);
	else await c.run(ADD_SIGN_IN_LINK, tokenHash, expiresAt, link.accountId);
}

const USE_SIGN_IN_LINK = sql(`
	DELETE FROM posthorn.links WHERE token_hash = $1 AND kind = 'sign_in' AND expires_at > $2 RETURNING account_id`);

export async function useSignInLink(c: Session, tokenHash: Uint8Array, at: number): Promise<string | null> {
	const row = await c.row<{ account_id: string }>(USE_SIGN_IN_LINK, tokenHash, at);
	return row === undefined ? null : row.account_id;
}

const EXPIRING = ["sessions", "links", "invitations"];
const SWEEPS = EXPIRING.map((table) => sql(`DELETE FROM posthorn.${table} WHERE expires_at < $1`));

export async function sweepExpired(c: Session, at: number): Promise<void> {
	await Promise.all(SWEEPS.map((sweep) => c.run(sweep, at)));
}
