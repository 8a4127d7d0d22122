import type * as port from "../port.ts";
import { DatabaseCalls } from "./calls.ts";
import { countAttempts, listAttemptSummaries, listAttempts } from "./history/attempt-list.ts";
import { readHealth } from "./history/health.ts";
import { getAttempt, getDelivery } from "./history/history.ts";
import { readStats } from "./history/stats.ts";
import { listWaitingRetries } from "./lanes/waiting.ts";
import { countMatching, replayMatching } from "./replay/replay-matching.ts";

/** The port's part for what people look at. */
export abstract class InsightCalls extends DatabaseCalls implements port.HistoryStorage, port.InsightStorage {
	listAttempts(
		projectId: string,
		filter: port.AttemptFilter,
		page: port.AttemptPage,
	): Promise<port.AttemptRows<port.Attempt>> {
		return this.read((c) => listAttempts(c, projectId, filter, page));
	}

	getAttempt(projectId: string, attemptId: string): Promise<port.Attempt | null> {
		return this.read((c) => getAttempt(c, projectId, attemptId));
	}

	getDelivery(projectId: string, webhookId: string, eventId: string): Promise<port.Delivery | null> {
		return this.readTogether((c) => getDelivery(c, projectId, webhookId, eventId));
	}

	listAttemptSummaries(
		projectId: string,
		filter: port.AttemptFilter,
		page: Omit<port.AttemptPage, "maxBytes">,
	): Promise<port.AttemptRows<port.AttemptSummary>> {
		return this.read((c) => listAttemptSummaries(c, projectId, filter, page));
	}

	countAttempts(
		projectId: string,
		filter: port.AttemptFilter,
		max: number,
	): Promise<{ readonly count: number; readonly capped: boolean }> {
		return this.read((c) => countAttempts(c, projectId, filter, max));
	}

	readStats(projectId: string, query: port.StatsQuery): Promise<port.Stats> {
		return this.readTogether((c) => readStats(c, projectId, query));
	}

	readHealth(projectId: string): Promise<port.WebhookHealth[]> {
		return this.readTogether((c) => readHealth(c, projectId));
	}

	listWaitingRetries(projectId: string, webhookId: string | null, limit: number): Promise<port.WaitingRetry[]> {
		return this.read((c) => listWaitingRetries(c, projectId, webhookId, limit));
	}

	replayMatching(
		projectId: string,
		selection: port.ReplaySelection,
		at: number,
		limit: number,
		options: { readonly dryRun: boolean; readonly after?: string },
	): Promise<{ count: number; next: string | null }> {
		return options.dryRun
			? this.read((c) => countMatching(c, projectId, selection, at, limit, options.after))
			: this.writeTo(projectId, (c) => replayMatching(c, projectId, selection, at, limit, options.after));
	}
}
