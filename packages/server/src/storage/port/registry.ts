export interface ProjectRef {
	readonly projectId: string;
}

export interface WebhookRef extends ProjectRef {
	readonly webhookId: string;
}

export interface Project {
	readonly id: string;
	readonly name: string;
	/** Installed apps; `developer` is the one there is. */
	readonly apps: readonly string[];
	readonly createdAt: number;
}

export type WebhookStatus = "active" | "paused";

/** A webhook as its owner knows it. */
export interface Webhook {
	readonly id: string;
	readonly projectId: string;
	readonly url: string;
	readonly description: string;
	readonly events: readonly string[];
	readonly status: WebhookStatus;
	readonly maxInFlight: number;
	readonly createdAt: number;
}

/** What waits for its first attempt. Found by index, at a cost that does not grow with what waits. */
export interface Backlog {
	readonly events: number;
	/** When the oldest of them was appended, or null when none waits. */
	readonly oldestAt: number | null;
}

export interface NewWebhook {
	readonly id: string;
	readonly projectId: string;
	readonly url: string;
	readonly description: string;
	readonly events: readonly string[];
	readonly maxInFlight: number;
	readonly createdAt: number;
	/** SHA-256 of the signing secret, sealed. */
	readonly sealedDigest: Uint8Array;
}

export interface WebhookPatch {
	readonly url?: string;
	readonly description?: string;
	/** The new set. A type that is added begins with the first event appended from then on. */
	readonly events?: readonly string[];
	readonly maxInFlight?: number;
	readonly status?: WebhookStatus;
	/** With `now`, the cursor moves to the end of the log, and what had waited (retries, too) is not sent. */
	readonly from?: "backlog" | "now";
}

export interface ApiKey {
	readonly id: string;
	readonly projectId: string;
	readonly name: string;
	/** The first characters of the key, to tell keys apart by. */
	readonly prefix: string;
	readonly createdAt: number;
	readonly lastUsedAt: number | null;
}

/** A place in a list that is ordered by id: the id of the last row of the page before. */
export interface Page {
	readonly limit: number;
	readonly after?: string;
}

/** Projects and webhooks: what people set up. Rows come in the order of their ids, oldest first. */
export interface RegistryStorage {
	createProject(project: Project): Promise<void>;
	getProject(p: ProjectRef): Promise<Project | null>;
	listProjects(page: Page): Promise<Project[]>;
	/** Null when there is no such project. */
	renameProject(p: ProjectRef & { readonly name: string }): Promise<Project | null>;
	/** Installs the Developer app, or takes it off and pauses every webhook. Null when there is no such project. */
	setDeveloperApp(p: ProjectRef & { readonly installed: boolean }): Promise<Project | null>;

	/**
	 * Registers a webhook whose cursor stands at the end of the log. `limit` when the project already has `maxPerProject`
	 * of them (counted in the same transaction).
	 */
	createWebhook(p: NewWebhook & { readonly maxPerProject: number }): Promise<"created" | "limit" | "no_project">;
	getWebhook(p: WebhookRef): Promise<Webhook | null>;
	listWebhooks(p: Page & ProjectRef): Promise<Webhook[]>;
	/** The webhook as changed, or null when it is not there. */
	updateWebhook(p: WebhookRef & { readonly patch: WebhookPatch }): Promise<Webhook | null>;
	/** Replaces the sealed digest. False when the webhook is not there. */
	rotateSecret(p: WebhookRef & { readonly sealedDigest: Uint8Array }): Promise<boolean>;
	/** Ends a webhook. Its pending deliveries are left for the engine to close, its log entries until their retention ends. */
	deleteWebhook(p: WebhookRef): Promise<boolean>;
	/** The backlogs of these webhooks of one project. */
	readBacklogs(p: ProjectRef & { readonly webhookIds: readonly string[] }): Promise<Map<string, Backlog>>;
}
