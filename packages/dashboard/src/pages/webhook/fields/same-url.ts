import { nameInSentence, type WebhookFacts } from "../../../lib/health/health.ts";
import { formatCount } from "../../../lib/text/numbers.ts";

const hrefOf = (url: string) => (URL.canParse(url) ? new URL(url).href : null);

/**
 * Which others of a project's webhooks have the same URL, and what that means: it is allowed, but rarely meant. Null if
 * none has.
 *
 * @param ownId of the webhook that is being changed; undefined for a new one
 */
export function sameUrlWords(webhooks: readonly WebhookFacts[], url: string, ownId: string | undefined): string | null {
	const href = hrefOf(url);
	const others = webhooks.filter((webhook) => webhook.id !== ownId && href !== null && hrefOf(webhook.url) === href);
	const [first] = others;
	if (first === undefined) return null;
	return others.length === 1
		? `The webhook ${nameInSentence(first)} has this URL, too. Events that both receive are sent to it twice.`
		: `${formatCount(others.length)} other webhooks have this URL, too. Events that several receive are sent to it as often.`;
}
