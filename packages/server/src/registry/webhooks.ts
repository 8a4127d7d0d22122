import { createSecret, secretDigest } from "@posthorn/protocol";
import type { Clock } from "../base/clock.ts";
import type { IdSource } from "../base/ids.ts";
import type { Seal } from "../base/seal.ts";
import type { Engine } from "../engine/engine.ts";
import type { Guard } from "../engine/send/guard.ts";
import type { Backlog, Page, RegistryStorage, Webhook, WebhookPatch, WebhookStatus } from "../storage/port.ts";
import type { Fault, Invalid } from "./fault.ts";
import { calledUrl, MAX_IN_FLIGHT, type WebhookFields, type WebhookLimits, webhookFaults } from "./webhook-faults.ts";

export interface NewWebhookInput extends WebhookFields {
	readonly url: string;
	readonly events: readonly string[];
}

export interface WebhookChange extends WebhookFields {
	readonly status?: WebhookStatus;
	/** Where to go on after a pause; only together with `status: "active"`. `backlog` unless said. */
	readonly from?: "backlog" | "now";
}

/** A webhook and what waits for it. */
export interface WebhookView {
	readonly webhook: Webhook;
	readonly backlog: Backlog;
}

export type CreateWebhookResult =
	| Invalid
	/** The secret is nowhere kept: this is the only time that it can be shown. */
	| { readonly kind: "created"; readonly view: WebhookView; readonly secret: string }
	| { readonly kind: "limit"; readonly max: number }
	| { readonly kind: "no_project" };

export type UpdateWebhookResult =
	| Invalid
	| { readonly kind: "updated"; readonly view: WebhookView }
	| { readonly kind: "no_webhook" };

export interface WebhooksOptions {
	readonly storage: Pick<
		RegistryStorage,
		| "createWebhook"
		| "getWebhook"
		| "listWebhooks"
		| "updateWebhook"
		| "rotateSecret"
		| "deleteWebhook"
		| "readBacklogs"
	>;
	readonly engine: Pick<Engine, "change">;
	readonly guard: Pick<Guard, "checkUrl">;
	readonly seal: Seal;
	readonly clock: Pick<Clock, "now">;
	readonly ids: IdSource;
	readonly limits: WebhookLimits;
	/** Draws the bytes of signing secrets: the machine's, unless given. */
	readonly random?: (bytes: number) => Uint8Array;
}

const NO_BACKLOG: Backlog = { events: 0, oldestAt: null };

/**
 * Webhooks as their owners set them up. Each change is made while the project's lanes stand still, so that when it is
 * answered nothing is sent by the old settings any more. Rejects only when storage fails.
 */
export class Webhooks {
	readonly #options: WebhooksOptions;

	constructor(options: WebhooksOptions) {
		this.#options = options;
	}

	async create(projectId: string, input: NewWebhookInput): Promise<CreateWebhookResult> {
		const faults = this.faults(input);
		if (faults.length > 0) return { kind: "invalid", faults };
		const { storage, engine, seal, clock, ids, limits, random } = this.#options;
		const id = ids.next("webhook");
		const secret = createSecret(random);
		const webhook = {
			id,
			projectId,
			url: calledUrl(input.url),
			description: input.description ?? "",
			events: input.events,
			maxInFlight: input.max_in_flight ?? MAX_IN_FLIGHT.default,
			createdAt: clock.now(),
		};
		const sealedDigest = seal.seal(secretDigest(secret), id);
		const result = await engine.change(
			projectId,
			() => storage.createWebhook({ ...webhook, sealedDigest }, limits.maxWebhooksPerProject),
			(created) => (created === "created" ? { webhookId: id } : "nothing"),
		);
		if (result === "limit") return { kind: "limit", max: limits.maxWebhooksPerProject };
		if (result === "no_project") return { kind: "no_project" };
		return { kind: "created", view: { webhook: { ...webhook, status: "active" }, backlog: NO_BACKLOG }, secret };
	}

	/** Everything that is wrong with those fields that are there. */
	faults(fields: WebhookChange): Fault[] {
		const faults = webhookFaults(fields, this.#options.limits, this.#options.guard);
		if (fields.from !== undefined && fields.status !== "active")
			faults.push({ pointer: "/from", detail: 'only goes together with "status": "active"' });
		return faults;
	}

	async get(projectId: string, webhookId: string): Promise<WebhookView | null> {
		const webhook = await this.#options.storage.getWebhook(projectId, webhookId);
		return webhook && this.#view(webhook);
	}

	async list(projectId: string, page: Page): Promise<WebhookView[]> {
		const { storage } = this.#options;
		const webhooks = await storage.listWebhooks(projectId, page);
		if (webhooks.length === 0) return [];
		const backlogs = await storage.readBacklogs(
			projectId,
			webhooks.map(({ id }) => id),
		);
		return webhooks.map((webhook) => ({ webhook, backlog: backlogs.get(webhook.id) ?? NO_BACKLOG }));
	}

	async update(projectId: string, webhookId: string, change: WebhookChange): Promise<UpdateWebhookResult> {
		const faults = this.faults(change);
		if (faults.length > 0) return { kind: "invalid", faults };
		const { url, max_in_flight, ...rest } = change;
		const patch: WebhookPatch = {
			...rest,
			...(url !== undefined && { url: calledUrl(url) }),
			...(max_in_flight !== undefined && { maxInFlight: max_in_flight }),
		};
		const { engine, storage } = this.#options;
		const webhook = await engine.change(
			projectId,
			() => storage.updateWebhook(projectId, webhookId, patch),
			(updated) => (updated ? { webhookId } : "nothing"),
		);
		return webhook ? { kind: "updated", view: await this.#view(webhook) } : { kind: "no_webhook" };
	}

	/** A new secret, shown this once; the old one signs nothing from then on. Null when there is no such webhook. */
	async rotateSecret(projectId: string, webhookId: string): Promise<string | null> {
		const { engine, seal, storage, random } = this.#options;
		const secret = createSecret(random);
		const sealedDigest = seal.seal(secretDigest(secret), webhookId);
		const rotated = await engine.change(
			projectId,
			() => storage.rotateSecret(projectId, webhookId, sealedDigest),
			(found) => (found ? { webhookId } : "nothing"),
		);
		return rotated ? secret : null;
	}

	/** False when there is no such webhook. */
	delete(projectId: string, webhookId: string): Promise<boolean> {
		const { engine, storage } = this.#options;
		return engine.change(
			projectId,
			() => storage.deleteWebhook(projectId, webhookId),
			(found) => (found ? { webhookId } : "nothing"),
		);
	}

	async #view(webhook: Webhook): Promise<WebhookView> {
		const backlogs = await this.#options.storage.readBacklogs(webhook.projectId, [webhook.id]);
		return { webhook, backlog: backlogs.get(webhook.id) ?? NO_BACKLOG };
	}
}
