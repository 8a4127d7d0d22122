import { queryOptions } from "@tanstack/react-query";
import { api } from "./client/client.ts";
import { ifStatus } from "./client/error.ts";
import type { ResponseOf, Schemas } from "./client/operation.ts";
import { queryClient, WATCHED } from "./client/query-client.ts";
import { refreshSession } from "./session-cache.ts";

const PAGE = 100;

const KEY = ["quarantine"] as const;

/** Whether the service was restored from a backup, and sends nothing until its operator releases it. */
export const quarantineQuery = queryOptions({
	queryKey: KEY,
	queryFn: async ({ signal }) => {
		const state = await api.get("/v1/quarantine", { signal });
		// The notice follows the session.
		if (!state.active) void refreshSession();
		return state;
	},
	// Another operator may release the database.
	...WATCHED,
});

/** A webhook with pending deliveries in quarantine, and its project. */
export type PendingWebhook = Schemas["QuarantinedProject"]["webhooks"][number] & {
	readonly project_id: string;
	readonly project: string;
};

/**
 * All webhooks with pending deliveries; only for the operator.
 *
 * @param onStep called with how many projects were examined so far
 */
export async function pendingWebhooks(signal: AbortSignal, onStep: (projects: number) => void) {
	const found: PendingWebhook[] = [];
	const projects = new Set<string>();
	let cursor: string | null = null;
	do {
		const page: ResponseOf<"/v1/quarantine/waiting", "get"> = await api.get("/v1/quarantine/waiting", {
			query: { limit: PAGE, cursor },
			signal,
		});
		for (const { id, name, webhooks } of page.data)
			for (const webhook of webhooks) found.push({ ...webhook, project_id: id, project: name });
		// A project may continue on the next page.
		for (const { id } of page.data) projects.add(id);
		onStep(projects.size);
		cursor = page.next_cursor;
	} while (cursor !== null);
	return found;
}

/**
 * Ends the quarantine on all nodes. These webhooks continue with the next event, without their pending deliveries, and
 * stay paused if they were paused meanwhile. Returns whether it was still in quarantine.
 */
export async function releaseQuarantine(skipped: readonly PendingWebhook[]): Promise<boolean> {
	for (const { project_id, id } of skipped)
		await api
			.patch("/v1/projects/{project_id}/webhooks/{webhook_id}", {
				path: { project_id, webhook_id: id },
				body: { from: "now" },
			})
			// Deleted meanwhile.
			.catch(ifStatus(404, null));
	const { released } = await api.post("/v1/quarantine/release");
	queryClient.removeQueries({ queryKey: KEY });
	await refreshSession();
	return released;
}
