import { useCallback, useMemo, useState } from "react";
import type { AttemptSummary } from "../../api/attempts.ts";
import { uniqueDeliveries } from "./sendable.ts";

export interface Selection {
	/** Selected attempts. */
	readonly size: number;
	/** How many deliveries they belong to. */
	readonly deliveries: number;
	readonly has: (attemptId: string) => boolean;
	readonly set: (row: AttemptSummary, selected: boolean) => void;
	readonly setAll: (rows: readonly AttemptSummary[]) => void;
}

interface Chosen {
	readonly view: string;
	readonly rows: ReadonlyMap<string, AttemptSummary>;
}

const NONE: Chosen["rows"] = new Map();

/** The selected rows; those of another `view` are deselected. */
export function useSelection(view: string): Selection {
	const [chosen, setChosen] = useState<Chosen>({ view, rows: NONE });
	const rows = chosen.view === view ? chosen.rows : NONE;
	const set = useCallback(
		(row: AttemptSummary, selected: boolean) =>
			setChosen((before) => {
				const next = new Map(before.view === view ? before.rows : NONE);
				if (selected) next.set(row.id, row);
				else next.delete(row.id);
				return { view, rows: next };
			}),
		[view],
	);
	return useMemo(
		() => ({
			size: rows.size,
			deliveries: uniqueDeliveries([...rows.values()]).length,
			has: (attemptId) => rows.has(attemptId),
			set,
			setAll: (all) => setChosen({ view, rows: new Map(all.map((row) => [row.id, row])) }),
		}),
		[rows, set, view],
	);
}
