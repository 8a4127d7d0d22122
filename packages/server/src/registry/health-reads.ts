import { LOG_READS } from "../base/budgets.ts";
import type { Storage, WebhookHealth } from "../storage/port.ts";
import { healthWindowStart } from "./health.ts";

/** The health of these webhooks of a project by their ids, read in steps. Deleted ones are missing. */
export async function readHealthOf(
	storage: Pick<Storage, "readHealth">,
	projectId: string,
	webhookIds: readonly string[],
	now: number,
): Promise<ReadonlyMap<string, WebhookHealth>> {
	const found = new Map<string, WebhookHealth>();
	const { webhooksPerStep } = LOG_READS;
	for (let from = 0; from < webhookIds.length; from += webhooksPerStep) {
		const step = { webhookIds: webhookIds.slice(from, from + webhooksPerStep), since: healthWindowStart(now) };
		for (const health of await storage.readHealth({ projectId, ...step })) found.set(health.webhookId, health);
	}
	return found;
}
