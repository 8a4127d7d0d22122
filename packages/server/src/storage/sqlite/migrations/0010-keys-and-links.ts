/**
 * What API keys may do, until when, and who created them. Earlier keys may do everything, as before. Sign-in links are
 * found by account, to be deleted with its old password.
 */
export const sql = `
ALTER TABLE api_keys ADD COLUMN scopes TEXT NOT NULL DEFAULT 'publish read manage';
ALTER TABLE api_keys ADD COLUMN expires_at INTEGER;
ALTER TABLE api_keys ADD COLUMN creator_kind TEXT;
ALTER TABLE api_keys ADD COLUMN creator_id TEXT;
ALTER TABLE api_keys ADD COLUMN creator_name TEXT;
CREATE INDEX links_by_account ON links (account_id);
`;
