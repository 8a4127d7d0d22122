import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { type Health, type Incident, incidentsQuery } from "../../api/health.ts";

/**
 * What changes an incident's words immediately: a webhook's state, whether it delivers again although its incident is
 * still listed as ongoing, and whether anything is pending or needs a decision.
 */
function marksOf(healths: readonly Health[] | undefined, incidents: readonly Incident[]) {
	const ongoing = new Set(incidents.filter(({ state }) => state === "ongoing").map(({ webhook_id }) => webhook_id));
	return healths
		?.map(({ webhook_id, state, failing_since, waiting, dead_letters }) => {
			const hasRecovered = failing_since === null && ongoing.has(webhook_id);
			return [webhook_id, state, hasRecovered, waiting.count === 0, dead_letters === 0].join();
		})
		.join();
}

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
	const { data = [], refetch } = query;
	const marks = marksOf(healths, data);
	const before = useRef(marks);
	useEffect(() => {
		if (before.current !== undefined && before.current !== marks) void refetch();
		before.current = marks;
	}, [marks, refetch]);
	return query;
}
