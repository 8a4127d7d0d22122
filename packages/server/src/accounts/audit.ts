import { type Clock, type Repetition, repeat } from "../base/clock.ts";
import type { IdSource } from "../base/ids.ts";
import type { Logger } from "../base/logger.ts";
import { type AccountStorage, type Actor, type AuditEntry, StorageError } from "../storage/port.ts";

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
	"webhook.secret_lost",
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

type AuditAction = (typeof AUDIT_ACTIONS)[number];

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

interface AuditOptions {
	readonly storage: Pick<AccountStorage, "appendAudit">;
	readonly clock: Pick<Clock, "now">;
	/** Real time, even if `clock` is virtual. */
	readonly disk: Pick<Clock, "setTimeout">;
	readonly ids: IdSource;
	readonly logger: Logger;
}

/** From one try to write the missing entries to the next, milliseconds. */
const RETRY_MS = 5_000;

/**
 * Records actions once they are done. An entry that storage can't take, as on a full disk, is kept in memory and in the
 * service's log, and is written as soon as storage works again. Until then, the API refuses further recorded actions in
 * its project, so few entries wait.
 */
export class Audit {
	readonly #options: AuditOptions;
	/** By project: the entries that aren't written yet, oldest first. */
	readonly #missing = new Map<string, AuditEntry[]>();
	/** Null until an entry is first kept for later; stopped once the log is closed. */
	#retries: Repetition | null = null;

	constructor(options: AuditOptions) {
		this.#options = options;
	}

	/** Resolves once the entry is written, or kept for later because storage failed. */
	async record(actor: Actor, note: AuditNote): Promise<void> {
		const { storage, clock, ids, logger } = this.#options;
		const entry = { id: ids.next("audit"), at: clock.now(), actor, target: null, detail: {}, ...note };
		try {
			await storage.appendAudit(entry);
		} catch (error) {
			if (!(error instanceof StorageError)) throw error;
			logger.error({ reason: error.message, entry }, "an entry of the audit log is written later");
			this.#missing.set(note.projectId, [...(this.#missing.get(note.projectId) ?? []), entry]);
			this.#retries ??= this.#startRetries();
		}
	}

	/** Whether entries of a project aren't written yet. */
	isBehind(projectId: string): boolean {
		return this.#missing.has(projectId);
	}

	/** Writes a project's missing entries. Rejects with a StorageError while that fails. */
	async catchUp(projectId: string): Promise<void> {
		const { storage, logger } = this.#options;
		for (const entry of this.#missing.get(projectId) ?? []) {
			try {
				await storage.appendAudit(entry);
			} catch (error) {
				if (error instanceof StorageError) throw error;
				logger.error({ err: error, entry }, "failed to write the audit log");
			}
			const others = this.#missing.get(projectId)?.filter((other) => other !== entry) ?? [];
			if (others.length > 0) this.#missing.set(projectId, others);
			else if (this.#missing.delete(projectId)) logger.warn({ projectId }, "the audit log is complete again");
		}
	}

	/** Tries again to write what is missing. */
	async close(): Promise<void> {
		// An entry may be kept even after this, which must not start them.
		this.#retries ??= this.#startRetries();
		await this.#retries.stop();
		await this.#catchUp();
	}

	#startRetries(): Repetition {
		return repeat(this.#options.disk, RETRY_MS, async () => {
			await this.#catchUp();
			return RETRY_MS;
		});
	}

	async #catchUp(): Promise<void> {
		// A failure was logged with its entry, and storage may fail for one project only.
		for (const projectId of this.#missing.keys()) await this.catchUp(projectId).catch(() => undefined);
	}
}
