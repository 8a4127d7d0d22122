/**
 * Accounts, how users sign in, and what they did. Tokens are stored only as their SHA-256. A project's owner is a
 * member like the others; the operator needs no membership.
 *
 * - `links` holds one-time tokens: the setup link, of which there is at most one, and sign-in links.
 * - `audit` has no references: it stores the names at the time of writing, and outlives what they name.
 */
export const sql = `
CREATE TABLE accounts (
	id TEXT PRIMARY KEY,
	email TEXT NOT NULL,
	normal_email TEXT NOT NULL UNIQUE,
	name TEXT NOT NULL,
	operator INTEGER NOT NULL,
	password_hash TEXT NOT NULL,
	created_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX accounts_of_operator ON accounts (operator) WHERE operator = 1;

CREATE TABLE sessions (
	id TEXT PRIMARY KEY,
	token_hash BLOB NOT NULL UNIQUE,
	account_id TEXT NOT NULL REFERENCES accounts (id),
	created_at INTEGER NOT NULL,
	last_seen_at INTEGER NOT NULL,
	expires_at INTEGER NOT NULL,
	by_link INTEGER NOT NULL,
	user_agent TEXT NOT NULL,
	address TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX sessions_by_account ON sessions (account_id, id);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);

CREATE TABLE links (
	token_hash BLOB PRIMARY KEY,
	kind TEXT NOT NULL CHECK (kind IN ('setup', 'sign_in')),
	account_id TEXT REFERENCES accounts (id),
	expires_at INTEGER NOT NULL,
	CHECK ((kind = 'setup') = (account_id IS NULL))
) WITHOUT ROWID;
CREATE UNIQUE INDEX links_for_setup ON links (kind) WHERE kind = 'setup';
CREATE INDEX links_by_expiry ON links (expires_at);

CREATE TABLE memberships (
	project_no INTEGER NOT NULL REFERENCES projects (no),
	account_id TEXT NOT NULL REFERENCES accounts (id),
	role TEXT NOT NULL CHECK (role IN ('viewer', 'developer', 'owner')),
	added_at INTEGER NOT NULL,
	PRIMARY KEY (project_no, account_id)
) WITHOUT ROWID;
CREATE INDEX memberships_by_account ON memberships (account_id, project_no);
CREATE INDEX memberships_of_owners ON memberships (project_no, account_id) WHERE role = 'owner';

CREATE TABLE invitations (
	id TEXT PRIMARY KEY,
	token_hash BLOB NOT NULL UNIQUE,
	project_no INTEGER NOT NULL REFERENCES projects (no),
	role TEXT NOT NULL CHECK (role IN ('viewer', 'developer', 'owner')),
	email TEXT,
	inviter_kind TEXT NOT NULL,
	inviter_id TEXT,
	inviter_name TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	expires_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX invitations_by_project ON invitations (project_no, id);
CREATE INDEX invitations_by_expiry ON invitations (expires_at);

CREATE TABLE audit (
	no INTEGER PRIMARY KEY,
	id TEXT NOT NULL,
	project_no INTEGER NOT NULL REFERENCES projects (no),
	at INTEGER NOT NULL,
	actor_kind TEXT NOT NULL,
	actor_id TEXT,
	actor_name TEXT NOT NULL,
	action TEXT NOT NULL,
	target_kind TEXT,
	target_id TEXT,
	target_name TEXT,
	detail TEXT NOT NULL
);
CREATE UNIQUE INDEX audit_by_project ON audit (project_no, id);
`;
