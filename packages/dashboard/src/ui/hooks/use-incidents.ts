import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { type Health, incidentsQuery } from "../../api/health.ts";

/**
 * What changes an incident's words at once: a webhook's state, whether it has begun to recover, and whether anything waits
 * or needs a decision.
 */
const marksOf = (healths: readonly Health[] | undefined) =>
	healths
		?.map(({ webhook_id, state, failing_since, waiting, dead_letters }) => {
			const isRecovering = state === "failing" && failing_since === null;
			return [webhook_id, state, isRecovering, waiting.count === 0, dead_letters === 0].join();
		})
		.join();

/**
 * The incidents of the last 48 hours, of a webhook or of the project. They follow slowly, but never contradict the health
 * next to them.
 *
 * @param healths of these webhooks, undefined until they are known
 */
export function useIncidents(
	projectId: string,
	options: Parameters<typeof incidentsQuery>[1],
	healths: readonly Health[] | undefined,
) {
	const query = useQuery(incidentsQuery(projectId, options));
	const { refetch } = query;
	const marks = marksOf(healths);
	const before = useRef(marks);
	useEffect(() => {
		if (before.current !== undefined && before.current !== marks) void refetch();
		before.current = marks;
	}, [marks, refetch]);
	return query;
}
