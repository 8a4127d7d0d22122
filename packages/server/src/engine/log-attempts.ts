import type { Logger } from "../base/logger.ts";
import type { EngineObserver } from "./index.ts";

/** One wide line for each attempt: dead letters as warnings, failures that are retried as info, successes as debug. */
export function logAttempts(logger: Logger): Required<Pick<EngineObserver, "attempted">> {
	return {
		attempted(projectId, eventId, attempt) {
			const { status, statusCode, errorCode, responseMs, nextRetryAt } = attempt;
			const level = status === "failed" ? "warn" : status === "retrying" ? "info" : "debug";
			if (!logger.isLevelEnabled(level)) return;
			logger[level](
				{
					projectId,
					webhookId: attempt.webhookId,
					eventId,
					eventType: attempt.eventType,
					attemptId: attempt.id,
					attempt: attempt.attempt,
					replay: attempt.replay,
					statusCode,
					errorCode,
					responseMs,
					...(nextRetryAt !== null && { nextRetryAt: new Date(nextRetryAt).toISOString() }),
				},
				MESSAGE[status],
			);
		},
	};
}

const MESSAGE = { delivered: "delivered", retrying: "attempt failed", failed: "dead-lettered" } as const;
