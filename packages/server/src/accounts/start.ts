import type { Clock, Timer } from "../base/clock.ts";
import type { IdSource } from "../base/ids.ts";
import type { Logger } from "../base/logger.ts";
import type { AccountStorage } from "../storage/port.ts";
import { Audit } from "./audit.ts";
import { Members } from "./members.ts";
import { Passwords } from "./password.ts";
import { People } from "./people.ts";
import { Sessions } from "./sessions.ts";

/** Sessions, links and invitations that are over are deleted this often. */
const SWEEP_MS = 60 * 60_000;

export interface AccountsOptions {
	readonly storage: AccountStorage;
	readonly clock: Clock;
	readonly ids: IdSource;
	readonly logger: Logger;
}

/** Everything that has to do with people. */
export interface Accounts {
	readonly people: People;
	readonly sessions: Sessions;
	readonly members: Members;
	readonly auditLog: Audit;
	close(): Promise<void>;
}

export function startAccounts(options: AccountsOptions): Accounts {
	const { storage, clock, logger } = options;
	let timer: Timer;
	let sweeping = Promise.resolve();
	const schedule = (): void => {
		timer = clock.setTimeout(() => {
			sweeping = storage
				.sweepExpired(clock.now())
				.catch((error: unknown) =>
					logger.warn({ err: error }, "expired sessions could not be deleted; next try in an hour"),
				)
				.then(schedule);
		}, SWEEP_MS);
	};
	schedule();
	return {
		people: new People({ ...options, passwords: new Passwords() }),
		sessions: new Sessions(options),
		members: new Members(options),
		auditLog: new Audit(options),
		async close() {
			await sweeping;
			timer.cancel();
		},
	};
}
