import type { Clock } from "../base/clock.ts";
import type { IdSource } from "../base/ids.ts";
import type { AccountStorage, Actor } from "../storage/port.ts";

/** Every recorded action; the names are stable. */
export const AUDIT_ACTIONS = [
	"project.created",
	"project.renamed",
	"project.listened",
	"app.installed",
	"app.removed",
	"webhook.created",
	"webhook.changed",
	"webhook.paused",
	"webhook.resumed",
	"webhook.skipped",
	"webhook.secret_rotated",
	"webhook.tested",
	"webhook.deleted",
	"api_key.created",
	"api_key.revoked",
	"member.invited",
	"invitation.revoked",
	"member.joined",
	"member.role_changed",
	"member.removed",
	"delivery.replayed",
	"deliveries.replayed",
	"delivery.dismissed",
	"deliveries.dismissed",
	"delivery.retried",
	"deliveries.retried",
	"log.exported",
	"sample.published",
	"test.cancelled",
] as const;

export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** Entries are kept for this long: over a year, so that last year's actions can still be reviewed. */
export const AUDIT_RETENTION_DAYS = 400;

export interface AuditNote {
	readonly projectId: string;
	readonly action: AuditAction;
	/** `name` is the target's current name, for later readers. */
	readonly target?: { readonly kind: string; readonly id: string; readonly name: string };
	/** Other details that a reader needs; never a secret. */
	readonly detail?: Readonly<Record<string, unknown>>;
}

export interface AuditOptions {
	readonly storage: Pick<AccountStorage, "appendAudit">;
	readonly clock: Pick<Clock, "now">;
	readonly ids: IdSource;
}

export class Audit {
	readonly #options: AuditOptions;

	constructor(options: AuditOptions) {
		this.#options = options;
	}

	async record(actor: Actor, note: AuditNote): Promise<void> {
		const { storage, clock, ids } = this.#options;
		const id = ids.next("audit");
		await storage.appendAudit({ id, at: clock.now(), actor, target: null, detail: {}, ...note });
	}
}
