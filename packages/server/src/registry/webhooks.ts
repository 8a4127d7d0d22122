import { createSecret } from "@posthorn/protocol";
import type { Clock } from "../base/clock.ts";
import { pagesOf } from "../base/collections.ts";
import type { IdSource } from "../base/ids.ts";
import type { Seal } from "../base/seal.ts";
import { type Fault, lineFaults } from "../base/text.ts";
import type { Engine } from "../engine/engine.ts";
import { type SecretState, sealSecret, secretStateOf } from "../engine/signing-keys.ts";
import type { Guard } from "../net/egress.ts";
import type {
	Backlog,
	By,
	Page,
	RegistryStorage,
	Storage,
	Webhook,
	WebhookPatch,
	WebhookStatus,
} from "../storage/port.ts";

/** A webhook's first attempts that may be in flight concurrently. */
export const MAX_IN_FLIGHT = { min: 1, max: 100, default: 1 } as const;

export interface WebhookLimits {
	readonly maxWebhooksPerProject: number;
	readonly maxUrlLength: number;
	readonly maxDescriptionLength: number;
}

/** The fields of a webhook that its owner sets. */
interface WebhookFields {
	readonly url?: string;
	readonly description?: string;
	readonly events?: readonly string[];
	readonly max_in_flight?: number;
	readonly standard_webhooks?: boolean;
}

/** Spaces and control characters: the URL parser silently drops or encodes them, so another URL would be called. */
const BLANK = /[\s\p{Cc}]/u;

/** A valid URL as requests use it: host in ASCII, no default port, paths without `..`, percent-encoded. */
function calledUrl(text: string): string {
	const { origin, pathname, search } = new URL(text);
	return origin + pathname + search;
}

/** Why a webhook can't be registered for this URL. */
export function urlFaults(text: string, maxLength: number, guard: Pick<Guard, "checkUrl">): Fault[] {
	const pointer = "/url";
	const tooLong = [{ pointer, detail: `must have at most ${maxLength} characters, encoded as in a request` }];
	if (text.length > maxLength) return tooLong;
	if (BLANK.test(text) || !text.isWellFormed())
		return [{ pointer, detail: "must not contain spaces, line breaks or control characters" }];
	const url = URL.parse(text);
	if (url === null) return [{ pointer, detail: "must be an absolute URL, such as https://example.com/webhooks" }];
	if (text.includes("#")) return [{ pointer, detail: "must not have a fragment (#…): it would never be sent" }];
	const verdict = guard.checkUrl(url);
	if (!verdict.ok) return [{ pointer, detail: verdict.text }];
	return calledUrl(text).length > maxLength ? tooLong : [];
}

interface NewWebhookInput extends WebhookFields {
	readonly url: string;
	readonly events: readonly string[];
}

interface WebhookChange extends WebhookFields {
	readonly status?: WebhookStatus;
	/** Where to continue: `now` skips what is pending; `backlog`, the default, is only for resuming. */
	readonly from?: "backlog" | "now";
}

export interface WebhookView {
	readonly webhook: Webhook;
	readonly backlog: Backlog;
	readonly secretState: SecretState;
}

type CreateWebhookResult =
	/** The secret is not stored, so it can be shown only now. */
	| { readonly kind: "created"; readonly view: WebhookView; readonly secret: string }
	| { readonly kind: "limit"; readonly max: number }
	| { readonly kind: "no_project" };

type UpdateWebhookResult =
	| { readonly kind: "updated"; readonly before: Webhook; readonly after: Webhook }
	/** It was created before Standard Webhooks were supported, and can't sign for them. */
	| { readonly kind: "old_secret" }
	| { readonly kind: "no_webhook" };

interface WebhooksOptions {
	readonly storage: RegistryStorage & Pick<Storage, "readBacklogs">;
	readonly engine: Pick<Engine, "change">;
	readonly guard: Pick<Guard, "checkUrl">;
	readonly seal: Seal;
	readonly clock: Pick<Clock, "now">;
	readonly ids: IdSource;
	readonly limits: WebhookLimits;
	/** Generates the bytes of signing secrets; by default, the system's randomness. */
	readonly random?: (bytes: number) => Uint8Array;
}

const NO_BACKLOG: Backlog = { events: 0, oldestSeq: null, oldestAt: null };

/**
 * Webhooks and their settings. Each change is made while the project's lanes are stopped, so once it returns, nothing
 * is sent with the old settings. `by` is on whose behalf, null for the operator: for others who have lost the right, there
 * is no project and no webhook. Rejects only if storage fails.
 */
export class Webhooks {
	readonly #options: WebhooksOptions;

	constructor(options: WebhooksOptions) {
		this.#options = options;
	}

	async create(projectId: string, input: NewWebhookInput, by: By["by"] = null): Promise<CreateWebhookResult> {
		const { storage, engine, seal, clock, ids, limits, random } = this.#options;
		const id = ids.next("webhook");
		const secret = createSecret(random);
		const webhook = {
			id,
			projectId,
			url: calledUrl(input.url),
			description: (input.description ?? "").trim(),
			events: input.events,
			maxInFlight: input.max_in_flight ?? MAX_IN_FLIGHT.default,
			standardWebhooks: input.standard_webhooks ?? false,
			createdAt: clock.now(),
		};
		const sealed = sealSecret(seal, secret, id);
		const result = await engine.change(
			projectId,
			() => storage.createWebhook({ ...webhook, ...sealed, maxPerProject: limits.maxWebhooksPerProject, by }),
			(created) => (created === "created" ? { webhookId: id } : "nothing"),
		);
		if (result === "limit") return { kind: "limit", max: limits.maxWebhooksPerProject };
		if (result === "no_project") return { kind: "no_project" };
		const created: Webhook = { ...webhook, ...sealed, status: "active", hasStandardDigest: true };
		return { kind: "created", view: { webhook: created, backlog: NO_BACKLOG, secretState: "usable" }, secret };
	}

	/** The faults of the fields that are present, except those that the API's schemas find. */
	faults({ url, description, from, status }: WebhookChange): Fault[] {
		const { limits, guard } = this.#options;
		const faults = url === undefined ? [] : urlFaults(url, limits.maxUrlLength, guard);
		if (description !== undefined)
			faults.push(...lineFaults(description, "/description", { min: 0, max: limits.maxDescriptionLength }));
		if (from !== undefined && status !== "active" && (from === "backlog" || status !== undefined))
			faults.push({ pointer: "/from", detail: 'may only be used with "status": "active", or "now" without a status' });
		return faults;
	}

	async get(projectId: string, webhookId: string): Promise<WebhookView | null> {
		const webhook = await this.#options.storage.getWebhook({ projectId, webhookId });
		return webhook && this.view(webhook);
	}

	async list(projectId: string, page: Page): Promise<WebhookView[]> {
		const { storage } = this.#options;
		return this.#views(projectId, await storage.listWebhooks({ projectId, ...page }));
	}

	/** Those of these webhooks that exist, oldest first. */
	async some(projectId: string, webhookIds: readonly string[]): Promise<WebhookView[]> {
		const { storage } = this.#options;
		const ids = [...new Set(webhookIds)].sort();
		const webhooks = await Promise.all(ids.map((webhookId) => storage.getWebhook({ projectId, webhookId })));
		return this.#views(
			projectId,
			webhooks.filter((webhook) => webhook !== null),
		);
	}

	/** All of a project's webhooks, oldest first. */
	async all(projectId: string): Promise<WebhookView[]> {
		const { storage } = this.#options;
		const views: WebhookView[] = [];
		for await (const webhooks of pagesOf((page) => storage.listWebhooks({ projectId, ...page })))
			views.push(...(await this.#views(projectId, webhooks)));
		return views;
	}

	async update(
		projectId: string,
		webhookId: string,
		change: WebhookChange,
		by: By["by"] = null,
	): Promise<UpdateWebhookResult> {
		const { url, description, max_in_flight, standard_webhooks, ...rest } = change;
		const patch: WebhookPatch = {
			...rest,
			...(url !== undefined && { url: calledUrl(url) }),
			...(description !== undefined && { description: description.trim() }),
			...(max_in_flight !== undefined && { maxInFlight: max_in_flight }),
			...(standard_webhooks !== undefined && { standardWebhooks: standard_webhooks }),
		};
		const { storage } = this.#options;
		if (standard_webhooks) {
			const before = await storage.getWebhook({ projectId, webhookId });
			if (before?.hasStandardDigest === false) return { kind: "old_secret" };
		}
		const changed = await this.#change(projectId, webhookId, () =>
			storage.updateWebhook({ projectId, webhookId, patch, by }),
		);
		return changed ? { kind: "updated", ...changed } : { kind: "no_webhook" };
	}

	/** Rotates the secret and returns the new one, which can't be read again. Null if there is no such webhook. */
	async rotateSecret(projectId: string, webhookId: string, by: By["by"] = null): Promise<string | null> {
		const { seal, storage, random } = this.#options;
		const secret = createSecret(random);
		const sealed = sealSecret(seal, secret, webhookId);
		const rotated = await this.#change(projectId, webhookId, () =>
			storage.rotateSecret({ projectId, webhookId, by, ...sealed }),
		);
		return rotated ? secret : null;
	}

	/** False if there is no such webhook. */
	delete(projectId: string, webhookId: string, by: By["by"] = null): Promise<boolean> {
		const { storage } = this.#options;
		return this.#change(projectId, webhookId, () => storage.deleteWebhook({ projectId, webhookId, by }));
	}

	/** Changes a webhook while the project's lanes are held. `change` resolves with null or false if it changed nothing. */
	#change<T>(projectId: string, webhookId: string, change: () => Promise<T>): Promise<T> {
		return this.#options.engine.change(projectId, change, (changed) => (changed ? { webhookId } : "nothing"));
	}

	/** Whether requests to the webhook can be signed. */
	readonly secretState = ({ id: webhookId, sealedDigest }: Webhook): SecretState =>
		secretStateOf(this.#options.seal, { webhookId, sealedDigest });

	async view(webhook: Webhook): Promise<WebhookView> {
		return (await this.#views(webhook.projectId, [webhook]))[0]!;
	}

	async #views(projectId: string, webhooks: readonly Webhook[]): Promise<WebhookView[]> {
		if (webhooks.length === 0) return [];
		const webhookIds = webhooks.map(({ id }) => id);
		const backlogs = await this.#options.storage.readBacklogs({ projectId, webhookIds });
		return webhooks.map((webhook) => ({
			webhook,
			backlog: backlogs.get(webhook.id) ?? NO_BACKLOG,
			secretState: this.secretState(webhook),
		}));
	}
}
