import * as initial from "./0001-initial.ts";
import * as accounts from "./0002-accounts.ts";
import * as stats from "./0003-stats.ts";
import * as facts from "./0004-facts.ts";
import * as links from "./0005-links.ts";
import * as openEvents from "./0006-open-events.ts";
import * as closing from "./0007-closing-webhooks.ts";
import * as handedOver from "./0008-handed-over.ts";
import * as auditByAge from "./0009-audit-by-age.ts";
import * as keysAndLinks from "./0010-keys-and-links.ts";

/** In the order of application; a database's version is how many of them it has. Never edit one. */
export const MIGRATIONS: readonly string[] = [
	initial.sql,
	accounts.sql,
	stats.sql,
	facts.sql,
	links.sql,
	openEvents.sql,
	closing.sql,
	handedOver.sql,
	auditByAge.sql,
	keysAndLinks.sql,
];
