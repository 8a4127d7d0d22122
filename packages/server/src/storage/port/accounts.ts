import type { Role } from "./roles.ts";

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
