import type { EventType } from "../../api/model.ts";
import type { Webhook } from "../../api/webhooks.ts";
import { listWithAnd, listWithOr } from "../../lib/text/list.ts";

/** Why published events of these types have no delivery in the log. */
export function undeliveredWords(
	types: ReadonlySet<EventType>,
	webhooks: readonly Pick<Webhook, "events">[] | undefined,
): string {
	if (webhooks === undefined) return "";
	const received = new Set(webhooks.flatMap(({ events }) => events));
	const unwanted = [...types].filter((type) => !received.has(type));
	const wanted = [...types].filter((type) => received.has(type));
	return [
		unwanted.length === 0
			? ""
			: `No webhook receives ${listWithOr(unwanted)}. A webhook gets the event types that are chosen in its settings, from then on.`,
		wanted.length === 0
			? ""
			: wanted.length === 1
				? `${wanted[0]} waits for its first attempt, or was published before a webhook received it.`
				: `${listWithAnd(wanted)} wait for their first attempt, or were published before a webhook received them.`,
	]
		.filter((words) => words !== "")
		.join(" ");
}
