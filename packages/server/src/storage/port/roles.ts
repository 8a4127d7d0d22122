/** What a person may do in a project; each role may do all that the ones before it may. */
export const ROLES = ["viewer", "developer", "owner"] as const;

export type Role = (typeof ROLES)[number];

export function mayAs(role: Role, needed: Role): boolean {
	return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

/** What a project's API key may do. Each scope stands alone: `manage` doesn't include `read`. */
export const KEY_SCOPES = ["publish", "read", "manage"] as const;

export type KeyScope = (typeof KEY_SCOPES)[number];
