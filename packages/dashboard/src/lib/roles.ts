/** What a member of a project may do, from least to most. */
export const ROLES = ["viewer", "developer", "owner"] as const;
export type Role = (typeof ROLES)[number];

export const isRole = (value: unknown): value is Role => ROLES.some((role) => role === value);

/** Whether `role` includes the permissions of `needed`. */
export const mayAct = (role: Role, needed: Role) => ROLES.indexOf(role) >= ROLES.indexOf(needed);

export const ROLE_WORDS: Readonly<Record<Role, { readonly label: string; readonly may: string }>> = {
	viewer: { label: "Viewer", may: "Sees webhooks and the delivery log. Changes nothing." },
	developer: { label: "Developer", may: "Also creates and changes webhooks and API keys, sends tests and replays." },
	owner: { label: "Owner", may: "Also installs apps, invites and removes members, and reads the audit log." },
};
