import { useDebouncedValue } from "@mantine/hooks";
import { useQueries } from "@tanstack/react-query";
import { createContext, useCallback } from "react";
import { type Health, hoursQuery, knownHours, type WebhookHours } from "../../api/health.ts";
import type { WebhookRow } from "./webhook-cells.tsx";

/** The rows in sight, from the index of the first to that of the last. */
export interface Sight {
	readonly first: number;
	readonly last: number;
}

/** Rows whose hours are requested together. */
const TOGETHER = 25;
/** Rows that scroll past faster than this aren't requested, in milliseconds. */
const PAUSE_MS = 100;

/** The ids of the rows in sight, in groups that stay the same while the list scrolls. */
export function groupsInSight(rows: readonly WebhookRow[], { first, last }: Sight): readonly (readonly string[])[] {
	const groups: string[][] = [];
	for (let from = Math.floor(first / TOGETHER) * TOGETHER; from <= Math.min(last, rows.length - 1); from += TOGETHER) {
		const lacking = rows.slice(from, from + TOGETHER).filter(({ health }) => health?.hours.length === 0);
		if (lacking.length > 0) groups.push(lacking.map(({ webhook }) => webhook.id));
	}
	return groups;
}

export type Hours = ReadonlyMap<string, Health["hours"]>;
/** The last day by the hour of the webhooks in sight, by id. */
export const HoursContext = createContext<Hours>(new Map());

/** Requests the hours of the rows in sight. Of thousands of webhooks, those of all would be most of the health's bytes. */
export function useHours(projectId: string, rows: readonly WebhookRow[] | undefined, sight: Sight): Hours {
	const [first] = useDebouncedValue(sight.first, PAUSE_MS);
	const [last] = useDebouncedValue(sight.last, PAUSE_MS);
	const combine = useCallback(
		(results: readonly { readonly data: readonly WebhookHours[] | undefined }[]): Hours => {
			const all = [...knownHours(projectId), ...results.flatMap(({ data = [] }) => data)];
			return new Map(all.map(({ webhook_id, hours }) => [webhook_id, hours]));
		},
		[projectId],
	);
	return useQueries({
		queries: groupsInSight(rows ?? [], { first, last }).map((ids) => hoursQuery(projectId, ids)),
		combine,
	});
}
