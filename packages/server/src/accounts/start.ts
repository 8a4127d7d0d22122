import type { Clock } from "../base/clock.ts";
import type { IdSource } from "../base/ids.ts";
import type { Logger } from "../base/logger.ts";
import type { AccountStorage } from "../storage/port.ts";
import { Audit } from "./audit.ts";
import { Guesses } from "./guesses.ts";
import { Members } from "./members.ts";
import { Passwords } from "./password.ts";
import { People } from "./people.ts";
import { Sessions } from "./sessions.ts";
import { AccountSweep } from "./sweep.ts";

export interface AccountsOptions {
	readonly storage: AccountStorage;
	readonly clock: Clock;
	/** What waiting for the database goes by: the machine's time, even where `clock` is another. */
	readonly disk: Clock;
	readonly ids: IdSource;
	readonly logger: Logger;
	/** Of the usual cost unless given. */
	readonly passwords?: Passwords;
}

/** Everything that has to do with people. */
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
	const auditLog = new Audit(options);
	const sweep = new AccountSweep({ ...options, auditLog });
	sweep.start();
	return {
		people: new People({ ...options, passwords }),
		sessions: new Sessions(options),
		members: new Members(options),
		auditLog,
		guesses: new Guesses(options.clock),
		close: () => sweep.stop(),
	};
}
