import type { WebhookFacts } from "../../../lib/health/health-facts.ts";
import { nameInSentence } from "../../../lib/health/webhook-name.ts";
import { formatCount } from "../../../lib/text/numbers.ts";

const hrefOf = (url: string) => (URL.canParse(url) ? new URL(url).href : null);

/**
 * Which other webhooks of a project have the same URL, and what follows from it: that is allowed, but rarely intended.
 * Null if none has it.
 *
 * @param ownId of the webhook that is being changed; undefined for a new one
 */
export function sameUrlWords(webhooks: readonly WebhookFacts[], url: string, ownId: string | undefined): string | null {
	const href = hrefOf(url);
	if (href === null) return null;
	const others = webhooks.filter((webhook) => webhook.id !== ownId && hrefOf(webhook.url) === href);
	const [first] = others;
	if (first === undefined) return null;
	return others.length === 1
		? `The webhook ${nameInSentence(first)} has this URL, too. Events that both receive are sent to it twice.`
		: `${formatCount(others.length)} other webhooks have this URL, too. An event is sent to it once for each that receives it.`;
}
