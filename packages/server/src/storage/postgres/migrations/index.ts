import * as initial from "./0001-initial.ts";
import * as accounts from "./0002-accounts.ts";
import * as stats from "./0003-stats.ts";
import * as facts from "./0004-facts.ts";
import * as publish from "./0005-publish.ts";
import * as linksAndAudit from "./0006-links-and-audit.ts";
import * as counts from "./0007-counts-of-a-settle.ts";
import * as publishForms from "./0008-publish-forms.ts";
import * as openEvents from "./0009-open-events.ts";
import * as closing from "./0010-closing-webhooks.ts";
import * as epochs from "./0011-epochs.ts";
import * as handedOver from "./0012-handed-over.ts";
import * as loggedSequence from "./0013-logged-sequence.ts";
import * as alarms from "./0014-alarms-in-turn.ts";
import * as keysAndLinks from "./0015-keys-and-links.ts";

/** In the order of application; a database's version is how many of them it has. Never edit one. */
export const MIGRATIONS: readonly string[] = [
	initial.sql,
	accounts.sql,
	stats.sql,
	facts.sql,
	publish.sql,
	linksAndAudit.sql,
	counts.sql,
	publishForms.sql,
	openEvents.sql,
	closing.sql,
	epochs.sql,
	handedOver.sql,
	loggedSequence.sql,
	alarms.sql,
	keysAndLinks.sql,
];
