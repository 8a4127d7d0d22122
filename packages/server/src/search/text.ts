/** Searches the bodies of events for a text, newest first, in steps between which other reads have their turn. */
import { SEARCH } from "../base/budgets.ts";
import type { Clock } from "../base/clock.ts";
import type { FoundText, Storage } from "../storage/port.ts";

interface TextSearch {
	readonly projectId: string;
	readonly text: string;
	/** Continue before this number; null from the end of the log. */
	readonly before: number | null;
	/** The most to find. */
	readonly limit: number;
	/** Runs a step in the caller's turn. */
	readonly inTurn: <T>(step: () => Promise<T>) => Promise<T>;
	/** Whether the client has left, so that nothing more needs to be read. */
	readonly isGone: () => boolean;
}

export interface TextPage {
	readonly found: readonly FoundText[];
	/** How many events were read. */
	readonly events: number;
	/** When the oldest of them was created; null if none was read. */
	readonly reached: number | null;
	readonly next: number | null;
}

/** Ends at the limit, at the beginning of the log, or after {@link SEARCH.textMs}, but not before one step. */
export async function searchText(
	{ storage, clock }: { readonly storage: Pick<Storage, "searchBodies">; readonly clock: Clock },
	{ projectId, text, before, limit, inTurn, isGone }: TextSearch,
): Promise<TextPage> {
	const end = clock.elapsed() + SEARCH.textMs;
	const found: FoundText[] = [];
	let events = 0;
	let reached: number | null = null;
	let next = before;
	do {
		const step = await inTurn(() => storage.searchBodies({ projectId, text, before: next, limit: SEARCH.textStep }));
		events += step.events;
		reached = step.reached ?? reached;
		found.push(...step.found);
		if (found.length > limit || (found.length === limit && step.next !== null)) {
			const page = found.slice(0, limit);
			const last = page.at(-1)!;
			return { found: page, events, reached: last.createdAt, next: last.seq };
		}
		next = step.next;
	} while (next !== null && clock.elapsed() < end && !isGone());
	return { found, events, reached, next };
}
