import { type Clock, repeat } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import { markOf, QUARANTINE, type QuarantineMark, type Storage } from "../storage/port.ts";

/** How often to check whether another node has released the database. */
const LOOK_MS = 1_000;
/**
 * How often to check whether the database was put in quarantine under this node. A restored database also begins an
 * epoch, which is noticed when it is first used.
 */
const IDLE_LOOK_MS = 30_000;

export interface QuarantineOptions {
	readonly storage: Pick<Storage, "getSetting" | "endQuarantine" | "peers">;
	readonly clock: Clock;
	readonly logger: Logger;
	/** This node has ended the quarantine. */
	readonly onReleased?: () => void;
}

export interface Quarantine {
	/** Null outside a quarantine. With several nodes, this one may notice seconds after another node. */
	readonly mark: QuarantineMark | null;
	/** Reads the current mark from the database. Rejects if storage fails. */
	read(): Promise<QuarantineMark | null>;
	/** Ends the quarantine on all nodes, which send again within a second. Returns whether there was one. */
	release(): Promise<boolean>;
	stop(): Promise<void>;
}

/**
 * Whether a restored database waits for an operator. Its pending deliveries are as old as the backup, and
 * receivers may have got them since, so an operator looks first.
 *
 * The mark is in the database, and storage grants no lease while it exists. So no node sends anything (first attempts,
 * retries, replays and tests alike), and restarts don't help. Events are accepted and logged as always. Nothing ages
 * meanwhile: nothing is deleted, expired or abandoned.
 *
 * Rejects if storage fails.
 */
export async function startQuarantine(options: QuarantineOptions): Promise<Quarantine> {
	const { storage, clock, logger, onReleased } = options;
	let mark: QuarantineMark | null = null;
	let looking: Promise<void> = Promise.resolve();
	/** The last read if it hasn't begun yet. */
	let next: Promise<void> | null = null;

	async function lookOnce(): Promise<void> {
		next = null;
		const stored = markOf(await storage.getSetting({ name: QUARANTINE }));
		if (stored !== null && mark === null) logger.warn({ quarantine: stored }, quarantineText(stored));
		if (stored === null && mark !== null) logger.warn({}, "released from quarantine: deliveries continue");
		mark = stored;
	}

	/**
	 * Reads run one after the other, so that an earlier result never replaces a later one. Callers share the read that
	 * hasn't begun, so at most two wait for a slow database.
	 */
	function look(): Promise<void> {
		next ??= looking = looking.catch(() => undefined).then(lookOnce);
		return next;
	}

	const pollMs = () => (mark === null ? IDLE_LOOK_MS : LOOK_MS);
	const lookLogged = () =>
		look().catch((error: unknown) =>
			logger.warn({ err: error }, "failed to check whether the database is in quarantine"),
		);

	await look();
	// Nothing else can change the mark of a database that only this process uses.
	const polling = storage.peers === null ? null : repeat(clock, pollMs(), () => lookLogged().then(pollMs));
	const unsubscribe = storage.peers?.onEpoch(() => void lookLogged());
	return {
		get mark() {
			return mark;
		},
		async read() {
			if (polling !== null) await look();
			return mark;
		},
		async release() {
			const ended = await storage.endQuarantine();
			await look();
			if (ended) onReleased?.();
			return ended;
		},
		async stop() {
			unsubscribe?.();
			await polling?.stop();
			await looking.catch(() => undefined);
		},
	};
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
