import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { type Health, incidentsQuery } from "../../api/health.ts";
import { type Marks, marksOf, refreshOf } from "../../lib/health/incident-refresh.ts";

/**
 * The incidents of the last 48 hours, of a webhook or of the project. They are refreshed less often than the health next
 * to them, but soon enough that they don't contradict it for long.
 *
 * @param healths of these webhooks, undefined until they are known
 */
export function useIncidents(
	projectId: string,
	options: Parameters<typeof incidentsQuery>[1],
	healths: readonly Health[] | undefined,
) {
	const query = useQuery(incidentsQuery(projectId, options));
	const { data = [], dataUpdatedAt, errorUpdatedAt, isFetching, refetch } = query;
	const before = useRef<Marks | null>(null);
	const timer = useRef<number>(undefined);
	useEffect(() => {
		const age = Date.now() - Math.max(dataUpdatedAt, errorUpdatedAt);
		const { marks, wait } = refreshOf(before.current, marksOf(healths, data), age, isFetching);
		before.current = marks;
		if (wait === null) return;
		window.clearTimeout(timer.current);
		timer.current = window.setTimeout(() => void refetch({ cancelRefetch: false }), wait);
	});
	useEffect(() => () => window.clearTimeout(timer.current), []);
	return query;
}
