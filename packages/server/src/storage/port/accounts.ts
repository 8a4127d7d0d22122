/** A person who signs in to the dashboard. */
export interface Account {
	readonly id: string;
	/** As entered. Compared in its normal form (trimmed, lower case), which is unique. */
	readonly email: string;
	readonly name: string;
	/** Runs the instance: owner of every project. */
	readonly operator: boolean;
	readonly createdAt: number;
}

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
	/** Started by a one-time link instead of a password, and has set no new password since. */
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

/** The purpose of a one-time link. Only the hash of its token is stored. */
export type OneTimeLink =
	/** Lets its holder set up the operator's account. Replaces setup links that expire before `supersedes`. */
	| { readonly kind: "setup"; readonly supersedes: number }
	/** Signs in to the account without a password. */
	| { readonly kind: "sign_in"; readonly accountId: string };

export interface Invitation {
	readonly id: string;
	readonly projectId: string;
	readonly role: Role;
	/** The invited address; null if anyone with the link may accept. */
	readonly email: string | null;
	readonly invitedBy: Actor;
	readonly createdAt: number;
	readonly expiresAt: number;
}

/** A member who must still have this role, or a higher one, when something is stored on their behalf. */
export type StillMember = Pick<Membership, "accountId" | "role">;

/** Such a member, or a key of the project that must still exist. */
export type StillAllowed = StillMember | { readonly keyId: string };

export interface By {
	/** On whose behalf something is stored or changed; null for the operator. */
	readonly by?: StillAllowed | null | undefined;
}

/** Who did something. `name` is its name at the time. */
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
	/** What it was done to, with its name at the time. */
	readonly target: { readonly kind: string; readonly id: string; readonly name: string } | null;
	/** Further details, such as the fields that changed: a JSON object, never a secret. */
	readonly detail: Readonly<Record<string, unknown>>;
}

/** What a person may do in a project; each role may do all that the ones before it may. */
export const ROLES = ["viewer", "developer", "owner"] as const;

export type Role = (typeof ROLES)[number];

export function mayAs(role: Role, needed: Role): boolean {
	return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

/** What a project's API key may do. Each scope stands alone: `manage` doesn't include `read`. */
export const KEY_SCOPES = ["publish", "read", "manage"] as const;

export type KeyScope = (typeof KEY_SCOPES)[number];
