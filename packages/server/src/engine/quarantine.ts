import { type Clock, type Repetition, repeat } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import { markOf, QUARANTINE, type QuarantineMark, type Storage } from "../storage/port.ts";

/** How often to check whether another node has released the database. */
const LOOK_MS = 1_000;
/** How often to check whether the database was replaced by a restored one under this node. */
const IDLE_LOOK_MS = 10_000;

export interface QuarantineOptions {
	readonly storage: Pick<Storage, "getSetting" | "endQuarantine" | "peers">;
	readonly clock: Clock;
	readonly logger: Logger;
	/** This node has ended the quarantine. */
	readonly onReleased?: () => void;
}

/**
 * Whether a restored database waits for an operator. Its pending deliveries are as old as the backup, and
 * receivers may have got them since, so an operator looks first.
 *
 * The mark is in the database, and storage grants no lease while it exists. So no node sends anything (first attempts,
 * retries, replays and tests alike), and restarts don't help. Events are accepted and logged as always. Nothing ages
 * meanwhile: nothing is deleted, expired or abandoned.
 */
export class Quarantine {
	readonly #options: QuarantineOptions;
	#mark: QuarantineMark | null = null;
	#polling: Repetition | null = null;
	#looking: Promise<void> = Promise.resolve();
	/** The last read if it hasn't begun yet. */
	#next: Promise<void> | null = null;

	private constructor(options: QuarantineOptions) {
		this.#options = options;
	}

	/** Rejects if storage fails. */
	static async start(options: QuarantineOptions): Promise<Quarantine> {
		const quarantine = new Quarantine(options);
		await quarantine.#look();
		if (quarantine.#isShared) quarantine.#polling = repeat(options.clock, quarantine.#pollMs, () => quarantine.#poll());
		return quarantine;
	}

	/** Null outside a quarantine. With several nodes, this one may notice seconds after another node. */
	get mark(): QuarantineMark | null {
		return this.#mark;
	}

	/** Reads the current mark from the database. Rejects if storage fails. */
	async read(): Promise<QuarantineMark | null> {
		if (this.#isShared) await this.#look();
		return this.#mark;
	}

	/** Ends the quarantine on all nodes, which send again within a second. Returns whether there was one. */
	async release(): Promise<boolean> {
		const ended = await this.#options.storage.endQuarantine();
		await this.#look();
		if (ended) this.#options.onReleased?.();
		return ended;
	}

	async stop(): Promise<void> {
		await this.#polling?.stop();
		await this.#looking.catch(() => undefined);
	}

	/** Nothing else can change the mark of a database that only this process uses. */
	get #isShared(): boolean {
		return this.#options.storage.peers !== null;
	}

	/**
	 * Reads run one after the other, so that an earlier result never replaces a later one. Callers share the read that
	 * hasn't begun, so at most two wait for a slow database.
	 */
	#look(): Promise<void> {
		if (this.#next === null) {
			this.#next = this.#looking
				.catch(() => undefined)
				.then(() => {
					this.#next = null;
					return this.#lookOnce();
				});
			this.#looking = this.#next;
		}
		return this.#next;
	}

	async #lookOnce(): Promise<void> {
		const { storage, logger } = this.#options;
		const mark = markOf(await storage.getSetting({ name: QUARANTINE }));
		if (mark !== null && this.#mark === null) logger.warn({ quarantine: mark }, quarantineText(mark));
		if (mark === null && this.#mark !== null) logger.warn({}, "released from quarantine: deliveries continue");
		this.#mark = mark;
	}

	get #pollMs(): number {
		return this.#mark === null ? IDLE_LOOK_MS : LOOK_MS;
	}

	async #poll(): Promise<number> {
		await this.#look().catch((error: unknown) =>
			this.#options.logger.warn({ err: error }, "failed to check whether the database is in quarantine"),
		);
		return this.#pollMs;
	}
}

/** What anyone may know: `/readyz` says it to strangers. */
export function quarantineNotice({ since, backupAt }: QuarantineMark): string {
	const from = backupAt === null ? "a backup" : `a backup of ${minute(backupAt)}`;
	return (
		`The database was restored from ${from} at ${minute(since)}, and is in quarantine: events are accepted, ` +
		"nothing is sent. posthorn quarantine lists pending deliveries, and posthorn release sends them."
	);
}

/** What an operator should know and do. Strangers needn't know that revoked access is valid again. */
export const quarantineText = (mark: QuarantineMark): string =>
	`${quarantineNotice(mark)} Access is as of the backup (API keys, members, passwords, signing secrets): repeat what was revoked, removed or rotated since.`;

/** `2026-11-24 10:05 UTC`: the time of a backup is known to a minute. */
const minute = (at: number): string => `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;
