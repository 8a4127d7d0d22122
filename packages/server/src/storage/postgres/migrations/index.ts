import * as initial from "./0001-initial.ts";
import * as accounts from "./0002-accounts.ts";
import * as stats from "./0003-stats.ts";
import * as facts from "./0004-facts.ts";
import * as publish from "./0005-publish.ts";
import * as keysAndLinks from "./0015-keys-and-links.ts";
import * as later from "./later.ts";

/** In the order of application; a database's version is how many of them it has. Never edit one. */
export const MIGRATIONS: readonly string[] = [
	initial.sql,
	accounts.sql,
	stats.sql,
	facts.sql,
	publish.sql,
	later.linksAndAudit,
	later.countsOfASettle,
	// Replaces the functions in databases whose `publish` accepted what receivers read differently.
	publish.functions,
	later.openEvents,
	later.closingWebhooks,
	later.epochs,
	later.handedOver,
	later.loggedSequence,
	later.alarmsInTurn,
	keysAndLinks.sql,
];
