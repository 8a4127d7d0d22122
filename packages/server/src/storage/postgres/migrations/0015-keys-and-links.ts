/**
 * What API keys may do, until when, and who created them. Earlier keys, and those that nodes of the previous version
 * create, may do everything. Sign-in links are found by account, to be deleted with its old password.
 */
export const sql = `
ALTER TABLE posthorn.api_keys
	ADD COLUMN scopes text NOT NULL DEFAULT 'publish read manage',
	ADD COLUMN expires_at bigint,
	ADD COLUMN creator_kind text,
	ADD COLUMN creator_id text,
	ADD COLUMN creator_name text;
CREATE INDEX links_by_account ON posthorn.links (account_id);
`;
