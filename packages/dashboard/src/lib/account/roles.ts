/** What a member of a project may do, from least to most. */
export const ROLES = ["viewer", "developer", "owner"] as const;
export type Role = (typeof ROLES)[number];

export const isRole = (value: unknown): value is Role => ROLES.some((role) => role === value);

/** Whether `role` includes the permissions of `needed`. */
export const mayAct = (role: Role, needed: Role) => ROLES.indexOf(role) >= ROLES.indexOf(needed);

/** `a developer`, `an owner`. */
export const aRole = (role: Role) => `${role === "owner" ? "an" : "a"} ${ROLE_WORDS[role].label.toLowerCase()}`;

interface RoleWords {
	readonly label: string;
	/** What it can do, next to lower roles. */
	readonly may: string;
	/** What it can do, for someone who gets it and doesn't see the others. */
	readonly you: string;
}

export const ROLE_WORDS: Readonly<Record<Role, RoleWords>> = {
	viewer: {
		label: "Viewer",
		may: "Can see webhooks and the delivery log, but not change anything.",
		you: "You can see webhooks and the delivery log, but not change anything.",
	},
	developer: {
		label: "Developer",
		may: "Can also create and change webhooks and API keys, send test events, and replay.",
		you: "You can see the delivery log, create and change webhooks and API keys, send test events, and replay.",
	},
	owner: {
		label: "Owner",
		may: "Can also install apps, invite and remove members, and read the audit log.",
		you: "You can change everything in this project, invite and remove members, and read the audit log.",
	},
};
