/** What an API key may do. */
export const KEY_SCOPES = ["publish", "read", "manage"] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

export const SCOPE_WORDS: Readonly<Record<KeyScope, { readonly label: string; readonly may: string }>> = {
	publish: { label: "Publish", may: "Publish events and report store facts: all that a store's server needs." },
	read: { label: "Read", may: "Read the event log, webhooks and deliveries." },
	manage: { label: "Manage", may: "Create and change webhooks, rotate secrets, replay, and revoke keys." },
};

/** What a new key may do unless the user chooses otherwise: all that most programs need. */
export const PROPOSED_SCOPES: readonly KeyScope[] = ["publish"];

const DAY_MS = 86_400_000;

/** How long a new key may be valid, in days; null for good. */
export const KEY_LIFETIMES: readonly { readonly days: number | null; readonly label: string }[] = [
	{ days: null, label: "Never" },
	{ days: 7, label: "In 7 days" },
	{ days: 30, label: "In 30 days" },
	{ days: 90, label: "In 90 days" },
	{ days: 365, label: "In a year" },
];

/** `expires_at` of a key that is valid for this many days from now on. */
export const expiryAfter = (days: number | null, now: number): { expires_at?: string } =>
	days === null ? {} : { expires_at: new Date(now + days * DAY_MS).toISOString() };

/** Whether a key that expires at this time has expired. */
export const hasExpired = (expiresAt: string, now: number): boolean => Date.parse(expiresAt) <= now;
