import type { EventType } from "../../../api/model.ts";
import type { Webhook } from "../../../api/webhooks.ts";
import { listWithAnd, listWithOr } from "../../../lib/text/list.ts";

/** Why published events of these types have no delivery in the log. */
export function undeliveredWords(
	types: ReadonlySet<EventType>,
	webhooks: readonly Pick<Webhook, "events">[] | undefined,
): string {
	if (webhooks === undefined) return "";
	const received = new Set(webhooks.flatMap(({ events }) => events));
	const unwanted = [...types].filter((type) => !received.has(type));
	const wanted = [...types].filter((type) => received.has(type));
	const sentences: string[] = [];
	if (unwanted.length > 0)
		sentences.push(
			`No webhook receives ${listWithOr(unwanted)}.`,
			"A webhook receives the event types selected in its settings, from then on.",
		);
	if (wanted.length === 1)
		sentences.push(`${wanted[0]} waits for its first attempt, or was published before a webhook received it.`);
	if (wanted.length > 1)
		sentences.push(
			`${listWithAnd(wanted)} wait for their first attempt, or were published before a webhook received them.`,
		);
	return sentences.join(" ");
}
