import * as initial from "./0001-initial.ts";
import * as accounts from "./0002-accounts.ts";
import * as stats from "./0003-stats.ts";
import * as facts from "./0004-facts.ts";
import * as keysAndLinks from "./0010-keys-and-links.ts";
import * as later from "./later.ts";

/** In the order of application; a database's version is how many of them it has. Never edit one. */
export const MIGRATIONS: readonly string[] = [
	initial.sql,
	accounts.sql,
	stats.sql,
	facts.sql,
	later.severalSetupLinks,
	later.openEvents,
	later.closingWebhooks,
	later.handedOver,
	later.auditByAge,
	keysAndLinks.sql,
];
