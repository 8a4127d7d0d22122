import type { HealthFacts } from "../health/health-facts.ts";
import { plural } from "../text/numbers.ts";

/** What a webhook still has to be sent. */
export interface Pending {
	/** Events that wait for their first attempt. */
	readonly first: number;
	/** Retries and replays that are due or scheduled. */
	readonly again: number;
	readonly total: number;
}

/** @param health undefined until it is known */
export function pendingOf(health: Pick<HealthFacts, "backlog" | "waiting"> | undefined): Pending {
	const first = health?.backlog.events ?? 0;
	const again = health?.waiting.count ?? 0;
	return { first, again, total: first + again };
}

/** The same without tests, which figures leave out. */
export function pendingDeliveriesOf(health: Pick<HealthFacts, "backlog" | "waiting"> | undefined): Pending {
	const { first, again } = pendingOf(health);
	const deliveries = again - (health?.waiting.tests ?? 0);
	return { first, again: deliveries, total: first + deliveries };
}

/** `2 new events and 79 retries`. */
export function pendingWords({ first, again }: Pending): string {
	return [first > 0 ? plural(first, "new event") : "", again > 0 ? plural(again, "retry") : ""]
		.filter((part) => part !== "")
		.join(" and ");
}
