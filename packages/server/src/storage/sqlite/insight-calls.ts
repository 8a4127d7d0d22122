import type * as port from "../port.ts";
import { WorkerCalls } from "./calls.ts";

/** The port's part for what people look at. */
export abstract class InsightCalls extends WorkerCalls implements port.InsightStorage {
	listAttemptSummaries(
		projectId: string,
		filter: port.AttemptFilter,
		page: Omit<port.AttemptPage, "maxBytes">,
	): Promise<port.AttemptRows<port.AttemptSummary>> {
		return this.read("listAttemptSummaries", projectId, filter, page);
	}

	countAttempts(
		projectId: string,
		filter: port.AttemptFilter,
		max: number,
	): Promise<{ readonly count: number; readonly capped: boolean }> {
		return this.read("countAttempts", projectId, filter, max);
	}

	readStats(projectId: string, query: port.StatsQuery): Promise<port.Stats> {
		return this.read("readStats", projectId, query);
	}

	readHealth(projectId: string): Promise<port.WebhookHealth[]> {
		return this.read("readHealth", projectId);
	}

	listWaitingRetries(projectId: string, webhookId: string | null, limit: number): Promise<port.WaitingRetry[]> {
		return this.read("listWaitingRetries", projectId, webhookId, limit);
	}

	replayMatching(
		projectId: string,
		selection: port.ReplaySelection,
		at: number,
		limit: number,
		options: { readonly dryRun: boolean; readonly after?: string },
	): Promise<{ count: number; next: string | null }> {
		return options.dryRun
			? this.read("countMatching", projectId, selection, at, limit, options.after)
			: this.write("replayMatching", projectId, selection, at, limit, options.after);
	}
}
