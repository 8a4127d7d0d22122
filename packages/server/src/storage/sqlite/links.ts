import type { OneTimeLink } from "../port.ts";
import type { Connection } from "./connection.ts";

export function createLink(c: Connection, link: OneTimeLink, tokenHash: Uint8Array, expiresAt: number): void {
	if (link.kind === "setup") c.sql("DELETE FROM links WHERE kind = 'setup' AND expires_at < ?").run(link.supersedes);
	c.sql("INSERT INTO links (token_hash, kind, account_id, expires_at) VALUES (?, ?, ?, ?)").run(
		tokenHash,
		link.kind,
		link.kind === "setup" ? null : link.accountId,
		expiresAt,
	);
}

export function holdsSetupLink(c: Connection, tokenHash: Uint8Array, at: number): boolean {
	const link = c.sql("SELECT 1 FROM links WHERE token_hash = ? AND kind = 'setup' AND expires_at > ?");
	return link.get(tokenHash, at) !== undefined;
}

export function useSignInLink(c: Connection, tokenHash: Uint8Array, at: number): string | null {
	const row = c
		.sql(`
			DELETE FROM links WHERE token_hash = ? AND kind = 'sign_in' AND expires_at > ? RETURNING account_id`)
		.get(tokenHash, at);
	return row === undefined ? null : (row.account_id as string);
}

export function sweepExpired(c: Connection, at: number): void {
	for (const table of ["sessions", "links", "invitations"]) c.sql(`DELETE FROM ${table} WHERE expires_at < ?`).run(at);
}
