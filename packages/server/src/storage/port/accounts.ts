import type { Page } from "./registry.ts";

/** What a person may do in a project; each role may do all that the ones before it may. */
export type Role = "viewer" | "developer" | "owner";

/** A person who signs in to the dashboard. */
export interface Account {
	readonly id: string;
	/** As it was written; compared in its normal form (trimmed, lower case), which is unique. */
	readonly email: string;
	readonly name: string;
	/** Runs the instance: sees every project, as an owner. */
	readonly operator: boolean;
	readonly createdAt: number;
}

/** An account with what signing in needs. */
export interface Credentials {
	readonly account: Account;
	/** In PHC string form, salt and parameters included. */
	readonly passwordHash: string;
}

export interface Session {
	readonly id: string;
	readonly accountId: string;
	readonly createdAt: number;
	readonly lastSeenAt: number;
	readonly expiresAt: number;
	/** Begun by a one-time link instead of a password. */
	readonly byLink: boolean;
	readonly userAgent: string;
	readonly address: string;
}

export interface Membership {
	readonly projectId: string;
	readonly accountId: string;
	readonly role: Role;
	readonly addedAt: number;
}

/** A membership as the project sees it. */
export interface Member {
	readonly account: Account;
	readonly role: Role;
	readonly addedAt: number;
}

/** What a link that is used once is good for. Only the hash of its token is kept. */
export type OneTimeLink =
	/** Whoever holds it sets up the operator's account. It ends the set-up links that expire before `supersedes`. */
	| { readonly kind: "setup"; readonly supersedes: number }
	/** Signs in to the account without a password. */
	| { readonly kind: "sign_in"; readonly accountId: string };

export interface Invitation {
	readonly id: string;
	readonly projectId: string;
	readonly role: Role;
	/** For whom it is meant, or null: whoever has the link. */
	readonly email: string | null;
	readonly invitedBy: Actor;
	readonly createdAt: number;
	readonly expiresAt: number;
}

/** Who did something. `name` is what it was called then. */
export interface Actor {
	readonly kind: "account" | "api_key" | "operator_key";
	/** The id of the account or the API key; null for the operator's key. */
	readonly id: string | null;
	readonly name: string;
}

/** An entry of a project's audit log. */
export interface AuditEntry {
	/** Rises with time. */
	readonly id: string;
	readonly projectId: string;
	readonly at: number;
	readonly actor: Actor;
	/** A stable name such as `webhook.created`. */
	readonly action: string;
	/** What it was done to, as it was called then. */
	readonly target: { readonly kind: string; readonly id: string; readonly name: string } | null;
	/** What a reader needs to know besides, such as the fields that changed: a JSON object, never a secret. */
	readonly detail: Readonly<Record<string, unknown>>;
}

/** People, how they sign in, and what they did. Emails are compared in the normal form that is handed in. */
export interface AccountStorage {
	/** Whether the operator has an account. */
	hasOperator(): Promise<boolean>;
	/** `taken` when the email has an account. */
	createAccount(account: Account, normalEmail: string, passwordHash: string): Promise<"created" | "taken">;
	/**
	 * The operator's account, in one transaction with the end of the set-up link. `over` when the operator has one already,
	 * `taken` when the email is somebody's who was invited before; the link stays good then.
	 */
	createOperator(
		account: Account,
		normalEmail: string,
		passwordHash: string,
		tokenHash: Uint8Array,
		at: number,
	): Promise<"created" | "wrong_token" | "over" | "taken">;
	getAccount(accountId: string): Promise<Account | null>;
	findCredentials(normalEmail: string): Promise<Credentials | null>;
	getCredentials(accountId: string): Promise<Credentials | null>;
	renameAccount(accountId: string, name: string): Promise<Account | null>;
	/** Sets the password and ends every session of the account but `keepSessionId`. */
	setPassword(accountId: string, passwordHash: string, keepSessionId: string | null): Promise<void>;

	createSession(session: Session, tokenHash: Uint8Array): Promise<void>;
	/** A session that has not expired at `at`, with its account. */
	findSession(tokenHash: Uint8Array, at: number): Promise<{ session: Session; account: Account } | null>;
	/** Notes that a session was used and prolongs it. */
	touchSession(sessionId: string, lastSeenAt: number, expiresAt: number): Promise<void>;
	/** Sessions of an account that have not expired, newest first. */
	listSessions(accountId: string, at: number): Promise<Session[]>;
	/** False when the account has no such session. */
	deleteSession(accountId: string, sessionId: string): Promise<boolean>;
	deleteSessions(accountId: string): Promise<void>;
	/** Deletes sessions, links and invitations that expired before `at`. */
	sweepExpired(at: number): Promise<void>;

	createLink(link: OneTimeLink, tokenHash: Uint8Array, expiresAt: number): Promise<void>;
	/** Whether this is a set-up link that has not expired at `at`. */
	holdsSetupLink(tokenHash: Uint8Array, at: number): Promise<boolean>;
	/** Ends a sign-in link: the account that it signs in to, or null when it is unknown, used or expired. */
	useSignInLink(tokenHash: Uint8Array, at: number): Promise<string | null>;

	/** The projects that an account is a member of, by project id. */
	listMemberships(
		accountId: string,
	): Promise<(Membership & { readonly projectName: string; readonly apps: readonly string[] })[]>;
	getRole(projectId: string, accountId: string): Promise<Role | null>;
	/** By account id. */
	listMembers(projectId: string, page: Page): Promise<Member[]>;
	getMember(projectId: string, accountId: string): Promise<Member | null>;
	/** `last_owner`: refused, because the project would have no owner left. */
	setRole(projectId: string, accountId: string, role: Role): Promise<"changed" | "no_member" | "last_owner">;
	removeMember(projectId: string, accountId: string): Promise<"removed" | "no_member" | "last_owner">;

	createInvitation(invitation: Invitation, tokenHash: Uint8Array): Promise<void>;
	/** One that has not expired at `at` and was not accepted. */
	findInvitation(tokenHash: Uint8Array, at: number): Promise<Invitation | null>;
	listInvitations(projectId: string, at: number): Promise<Invitation[]>;
	deleteInvitation(projectId: string, invitationId: string): Promise<boolean>;
	/** Ends the invitation and makes the account a member (a role that is higher already stays). Null when it is over. */
	acceptInvitation(tokenHash: Uint8Array, accountId: string, at: number): Promise<Membership | null>;

	appendAudit(entry: AuditEntry): Promise<void>;
	/** Newest first, by entry id; `after` is the last one of the page before. */
	listAudit(projectId: string, page: Page): Promise<AuditEntry[]>;
	/** Deletes entries of before `cutoff`, the oldest first and at most `limit`; answers with how many. */
	sweepAudit(cutoff: number, limit: number): Promise<number>;
}
