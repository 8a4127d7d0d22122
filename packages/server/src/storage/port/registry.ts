import type { Actor, KeyScope } from "./accounts.ts";

export interface ProjectRef {
	readonly projectId: string;
}

export interface WebhookRef extends ProjectRef {
	readonly webhookId: string;
}

export interface Project {
	readonly id: string;
	readonly name: string;
	/** Installed apps. The only one is `developer`. */
	readonly apps: readonly string[];
	readonly createdAt: number;
}

export type WebhookStatus = "active" | "paused";

/** A webhook as its owner sees it. */
export interface Webhook {
	readonly id: string;
	readonly projectId: string;
	readonly url: string;
	readonly description: string;
	readonly events: readonly string[];
	readonly status: WebhookStatus;
	readonly maxInFlight: number;
	/** Whether requests also carry the headers of Standard Webhooks. */
	readonly standardWebhooks: boolean;
	/** Whether its secret can sign for Standard Webhooks: secrets of older versions can't. */
	readonly hasStandardDigest: boolean;
	/** SHA-256 of the signing secret, sealed. */
	readonly sealedDigest: Uint8Array;
	readonly createdAt: number;
}

export interface ChangedWebhook {
	readonly before: Webhook;
	readonly after: Webhook;
}

/** What names a deleted webhook for as long as the log may show its deliveries. */
export interface DeletedWebhook extends Pick<Webhook, "id" | "url" | "description"> {
	readonly deletedAt: number;
}

/** Events pending their first attempt. Found by index, at a cost that doesn't grow with the backlog. */
export interface Backlog {
	readonly events: number;
	/** The oldest of them, and when it was appended; null if there are none. */
	readonly oldestSeq: number | null;
	readonly oldestAt: number | null;
}

export interface NewWebhook
	extends Pick<Webhook, "id" | "projectId" | "url" | "description" | "events" | "maxInFlight" | "createdAt"> {
	/** SHA-256 of the signing secret, sealed. */
	readonly sealedDigest: Uint8Array;
	/** SHA-256 of the bytes that the secret encodes, sealed. */
	readonly sealedStandardDigest?: Uint8Array;
	readonly standardWebhooks?: boolean;
}

/** What is stored of a webhook's signing secret. */
export interface StoredSecret {
	/** The webhook's. */
	readonly id: string;
	readonly sealedDigest: Uint8Array;
	/** Null if the secret is of an older version. */
	readonly sealedStandardDigest: Uint8Array | null;
}

export interface WebhookPatch {
	readonly url?: string;
	readonly description?: string;
	/** The new set. An added type starts with the next event appended. */
	readonly events?: readonly string[];
	readonly maxInFlight?: number;
	readonly standardWebhooks?: boolean;
	readonly status?: WebhookStatus;
	/** With `now`, the cursor moves to the end of the log, and the backlog and pending retries aren't sent. */
	readonly from?: "backlog" | "now";
}

export interface ApiKey {
	readonly id: string;
	readonly projectId: string;
	readonly name: string;
	/** The first characters of the key, to tell keys apart. */
	readonly prefix: string;
	readonly scopes: readonly KeyScope[];
	/** From then on it is refused; null if it doesn't expire. */
	readonly expiresAt: number | null;
	/** Null for keys created before creators were recorded. */
	readonly createdBy: Actor | null;
	readonly createdAt: number;
	readonly lastUsedAt: number | null;
}

/** A page of a list ordered by id. `after`: the last id of the previous page. */
export interface Page {
	readonly limit: number;
	readonly after?: string | undefined;
}

// Values that the instance stores about itself, by name. Times are milliseconds since the Unix epoch.

/** The latest time that a node's clock showed and was trusted, in decimal. */
export const CLOCK_SEEN = "clock_seen_at";
/** How far trusted clocks have jumped ahead and not been made up for yet, milliseconds, in decimal. */
export const CLOCK_JUMPED = "clock_jumped_ms";

/** What a node's clock shows, compared with what was seen before. */
export interface ClockSeen {
	/** The latest trusted time. */
	readonly seenAt: number;
	/** Whether the clock is too far ahead of it to be trusted. */
	readonly isAhead: boolean;
	/** How far clocks have jumped ahead, including this one, milliseconds. */
	readonly jumpedMs: number;
}

/** Exists while the database is in quarantine, as JSON. No lease is granted meanwhile, on any node. */
export const QUARANTINE = "quarantine";

export interface QuarantineMark {
	/** When the database was restored. */
	readonly since: number;
	/** The latest time that the backup's nodes recorded, at most a minute before it was taken; null if there is none. */
	readonly backupAt: number | null;
}

/** @param value of {@link QUARANTINE}; null outside a quarantine */
export const markOf = (value: string | null): QuarantineMark | null =>
	value === null ? null : (JSON.parse(value) as QuarantineMark);
