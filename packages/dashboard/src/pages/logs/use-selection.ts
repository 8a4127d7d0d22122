import { useState } from "react";
import type { AttemptSummary } from "../../api/attempts.ts";
import type { DeliveryId } from "../../api/deliveries.ts";

export interface Selection {
	/** Attempts that are selected. */
	readonly size: number;
	/** What they are attempts of; each delivery once. */
	readonly deliveries: readonly DeliveryId[];
	readonly has: (attemptId: string) => boolean;
	readonly set: (row: AttemptSummary, selected: boolean) => void;
	readonly setAll: (rows: readonly AttemptSummary[]) => void;
}

/** The rows that are selected; those of another `view` are forgotten. */
export function useSelection(view: string): Selection {
	const [chosen, setChosen] = useState<{ view: string; rows: ReadonlyMap<string, AttemptSummary> }>({
		view,
		rows: new Map(),
	});
	const rows: ReadonlyMap<string, AttemptSummary> = chosen.view === view ? chosen.rows : new Map();
	const byDelivery = new Map(
		[...rows.values()].map(({ webhook_id, event_id }) => [`${webhook_id} ${event_id}`, { webhook_id, event_id }]),
	);
	return {
		size: rows.size,
		deliveries: [...byDelivery.values()],
		has: (attemptId) => rows.has(attemptId),
		set: (row, selected) => {
			const next = new Map(rows);
			if (selected) next.set(row.id, row);
			else next.delete(row.id);
			setChosen({ view, rows: next });
		},
		setAll: (all) => setChosen({ view, rows: new Map(all.map((row) => [row.id, row])) }),
	};
}
