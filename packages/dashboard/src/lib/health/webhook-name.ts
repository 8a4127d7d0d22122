import { cutEnd } from "../text/cut.ts";
import { isolated } from "../text/names.ts";
import { plural } from "../text/numbers.ts";
import type { WebhookFacts } from "./health-facts.ts";

/** The display name of a webhook: its description, or its host. */
export function webhookName({ description, url }: Pick<WebhookFacts, "description" | "url">): string {
	if (description.trim() !== "") return description.trim();
	return URL.canParse(url) ? new URL(url).host : url;
}

/** Longer names are cut in sentences, in characters. */
const NAME_LENGTH = 60;
/** How many names a sentence has. */
const NAMED = 3;

/** The name in a sentence: not too long, and isolated. */
export function nameInSentence(webhook: Omit<WebhookFacts, "id">): string {
	return isolated(cutEnd(webhookName(webhook), NAME_LENGTH));
}

/** `Accounting, Shipping, Chat and 2 others`. */
export function namesOf(webhooks: readonly Omit<WebhookFacts, "id">[]): string {
	const names = webhooks.slice(0, NAMED).map(nameInSentence).join(", ");
	const more = webhooks.length - NAMED;
	return more > 0 ? `${names} and ${plural(more, "other")}` : names;
}

const DELETED = "(deleted)";

/**
 * The display name of a deleted webhook: the one it had, or until that is known, where its attempts went.
 *
 * @param url of one of its attempts
 */
export function deletedName(webhook: Omit<WebhookFacts, "id"> | undefined, url?: string): string {
	if (webhook !== undefined) return `${isolated(webhookName(webhook))} ${DELETED}`;
	return url === undefined || !URL.canParse(url) ? "a deleted webhook" : `${new URL(url).host} ${DELETED}`;
}

/** A display name in two: what may be cut where space is scarce, and that the webhook was deleted, which may not. */
export const splitDeleted = (name: string): readonly [name: string, mark: string] =>
	name.endsWith(` ${DELETED}`) ? [name.slice(0, -DELETED.length - 1), DELETED] : [name, ""];
