import { type Clock, repeat, sleep } from "../base/clock.ts";
import type { IdSource } from "../base/ids.ts";
import type { Logger } from "../base/logger.ts";
import type { AccountStorage } from "../storage/port.ts";
import { AUDIT_RETENTION_DAYS, Audit } from "./audit.ts";
import { Members } from "./members.ts";
import { Passwords } from "./password.ts";
import { People } from "./people.ts";
import { Sessions } from "./sessions.ts";
import { Guesses } from "./tokens.ts";

export { API_KEY_PREFIX, ApiKeys } from "./api-keys.ts";
export { AUDIT_ACTIONS, AUDIT_RETENTION_DAYS, type AuditNote } from "./audit.ts";
export {
	createOperatorKey,
	findOperatorKey,
	OPERATOR_KEY_PREFIX,
	OperatorKey,
	replaceOperatorKey,
	writePrivately,
} from "./operator-key.ts";
export { Passwords, PasswordsBusy } from "./password.ts";
export {
	accountFaults,
	createSetupToken,
	EMAIL_PATTERN,
	MAX_EMAIL,
	nameFaults,
	normalEmail,
	PASSWORD_LENGTH,
	People,
	setupLink,
} from "./people.ts";
export {
	actorOf,
	endOfRights,
	type Person,
	type Principal,
	SESSION_MS,
	stillAllowed,
	stillMember,
} from "./sessions.ts";
export { askImmediately, Guesses, TooManyGuesses } from "./tokens.ts";

interface AccountsOptions {
	readonly storage: AccountStorage;
	readonly clock: Clock;
	/** Real time, for waits for the database and pauses between steps, even if `clock` is virtual. */
	readonly disk: Clock;
	readonly ids: IdSource;
	readonly logger: Logger;
	/** See {@link PeopleOptions}. */
	onSetUp?(): Promise<void>;
	/** By default, the usual cost. */
	readonly passwords?: Passwords;
	/** The time that expiry and retention use when rows are deleted; by default, the clock's. */
	readonly retentionNow?: () => number;
}

export interface Accounts {
	readonly people: People;
	readonly sessions: Sessions;
	readonly members: Members;
	readonly auditLog: Audit;
	readonly guesses: Guesses;
	close(): Promise<void>;
}

export function startAccounts(options: AccountsOptions): Accounts {
	const { passwords = new Passwords() } = options;
	const stopSweep = startSweep(options);
	const sessions = new Sessions(options);
	const auditLog = new Audit(options);
	return {
		people: new People({ ...options, passwords }),
		sessions,
		members: new Members(options),
		auditLog,
		guesses: new Guesses(options.clock),
		async close() {
			await Promise.all([stopSweep(), sessions.close(), auditLog.close()]);
		},
	};
}

const DAY_MS = 86_400_000;
/** How often to delete expired sessions, links and invitations, and audit entries past retention, in milliseconds. */
const EVERY_MS = 60 * 60_000;
/** Audit entries deleted per step; each step is a short transaction. */
const STEP_ROWS = 500;
/** Milliseconds between steps, in which other work runs. */
const BETWEEN_STEPS_MS = 50;

/**
 * Deletes expired sessions, links and invitations, and old audit entries.
 *
 * @returns stops it
 */
function startSweep(options: AccountsOptions): () => Promise<void> {
	const { storage, clock, disk, logger, retentionNow = () => clock.now() } = options;
	let isStopped = false;

	async function sweepAudit(now: number): Promise<number> {
		const cutoff = now - AUDIT_RETENTION_DAYS * DAY_MS;
		let deleted = 0;
		for (let step = STEP_ROWS; step === STEP_ROWS && !isStopped; ) {
			step = await storage.sweepAudit({ cutoff, limit: STEP_ROWS });
			deleted += step;
			if (step === STEP_ROWS) await sleep(disk, BETWEEN_STEPS_MS);
		}
		return deleted;
	}

	const sweeping = repeat(clock, EVERY_MS, async () => {
		if (!Number.isFinite(retentionNow())) return EVERY_MS;
		try {
			await storage.sweepExpired({ at: retentionNow() });
			const entries = await sweepAudit(retentionNow());
			if (entries > 0) logger.info({ entries }, "deleted expired entries of the audit log");
		} catch (error) {
			logger.warn({ err: error }, "failed to delete expired sessions, links and invitations; retrying in an hour");
		}
		return EVERY_MS;
	});
	return () => {
		isStopped = true;
		return sweeping.stop();
	};
}
