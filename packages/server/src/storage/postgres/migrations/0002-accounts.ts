/**
 * Accounts, how users sign in, and what they did. Tokens are stored only as their SHA-256. A project's owner is a
 * member like the others; the operator needs no membership.
 *
 * - `links` holds one-time tokens: the setup link, of which there is at most one, and sign-in links.
 * - `audit` has no references: it stores the names at the time of writing, and outlives what they name.
 */
export const sql = `
CREATE TABLE posthorn.accounts (
	id text COLLATE "C" PRIMARY KEY,
	email text NOT NULL,
	normal_email text NOT NULL UNIQUE,
	name text NOT NULL,
	operator boolean NOT NULL,
	password_hash text NOT NULL,
	created_at bigint NOT NULL
);
CREATE INDEX accounts_of_operator ON posthorn.accounts (operator) WHERE operator;

CREATE TABLE posthorn.sessions (
	id text COLLATE "C" PRIMARY KEY,
	token_hash bytea NOT NULL UNIQUE,
	account_id text COLLATE "C" NOT NULL REFERENCES posthorn.accounts (id),
	created_at bigint NOT NULL,
	last_seen_at bigint NOT NULL,
	expires_at bigint NOT NULL,
	by_link boolean NOT NULL,
	user_agent text NOT NULL,
	address text NOT NULL
);
CREATE INDEX sessions_by_account ON posthorn.sessions (account_id, id);
CREATE INDEX sessions_by_expiry ON posthorn.sessions (expires_at);

CREATE TABLE posthorn.links (
	token_hash bytea PRIMARY KEY,
	kind text NOT NULL CHECK (kind IN ('setup', 'sign_in')),
	account_id text COLLATE "C" REFERENCES posthorn.accounts (id),
	expires_at bigint NOT NULL,
	CHECK ((kind = 'setup') = (account_id IS NULL))
);
CREATE UNIQUE INDEX links_for_setup ON posthorn.links (kind) WHERE kind = 'setup';
CREATE INDEX links_by_expiry ON posthorn.links (expires_at);

CREATE TABLE posthorn.memberships (
	project_no bigint NOT NULL REFERENCES posthorn.projects (no),
	account_id text COLLATE "C" NOT NULL REFERENCES posthorn.accounts (id),
	role text NOT NULL CHECK (role IN ('viewer', 'developer', 'owner')),
	added_at bigint NOT NULL,
	PRIMARY KEY (project_no, account_id)
);
CREATE INDEX memberships_by_account ON posthorn.memberships (account_id, project_no);

CREATE TABLE posthorn.invitations (
	id text COLLATE "C" PRIMARY KEY,
	token_hash bytea NOT NULL UNIQUE,
	project_no bigint NOT NULL REFERENCES posthorn.projects (no),
	role text NOT NULL CHECK (role IN ('viewer', 'developer', 'owner')),
	email text,
	inviter_kind text NOT NULL,
	inviter_id text,
	inviter_name text NOT NULL,
	created_at bigint NOT NULL,
	expires_at bigint NOT NULL
);
CREATE INDEX invitations_by_project ON posthorn.invitations (project_no, id);
CREATE INDEX invitations_by_expiry ON posthorn.invitations (expires_at);

CREATE TABLE posthorn.audit (
	project_no bigint NOT NULL REFERENCES posthorn.projects (no),
	id text COLLATE "C" NOT NULL,
	at bigint NOT NULL,
	actor_kind text NOT NULL,
	actor_id text,
	actor_name text NOT NULL,
	action text NOT NULL,
	target_kind text,
	target_id text,
	target_name text,
	detail json NOT NULL,
	PRIMARY KEY (project_no, id)
);
`;
