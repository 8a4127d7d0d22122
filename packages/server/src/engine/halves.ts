import { isPartial } from "../storage/port.ts";

/** What became of an item: its result, or why it has none. */
export type Ran<R> = { readonly result: R } | { readonly error: unknown };

interface Batch<T, R> {
	/** Runs these items, in order; resolves with a result for each, or rejects without having run any. */
	readonly run: (items: readonly T[]) => Promise<readonly R[]>;
	/** Items of one owner (a project) run or fail together, because they fail for the same reason. */
	readonly ownerOf: (item: T) => string;
	/** The caller's number of this search: each begins with other owners, in case those of the last one all failed. */
	readonly number: number;
}

/** If this many owners fail by themselves before any has run, it isn't because of them. */
export const MAX_FAILED = 4;
/** How much later in the list of owners each search begins, as a share of it: the golden ratio spreads them best. */
const STEP = (Math.sqrt(5) - 1) / 2;

/**
 * Runs a batch of distinct items. If some of its owners make it fail, they are found by halves, and don't keep the others
 * from running. If the first few that are tried by themselves all fail, it isn't because of them: then nothing else is
 * tried.
 *
 * @returns what became of each item, in the order of the items
 */
export async function runByHalves<T, R>(
	items: readonly T[],
	{ run, ownerOf, number }: Batch<T, R>,
): Promise<ReadonlyMap<T, Ran<R>>> {
	const ran = new Map<T, Ran<R>>();
	let hasRun = false;
	let failedAlone = 0;

	/** Returns why these items failed; null if they ran. */
	async function tryToRun(part: readonly T[]): Promise<{ readonly error: unknown } | null> {
		try {
			const results = await run(part);
			hasRun = true;
			for (const [i, item] of part.entries()) ran.set(item, { result: results[i]! });
			return null;
		} catch (error) {
			for (const item of part) ran.set(item, { error });
			return { error };
		}
	}

	/** Runs each half of these owners' items, and the halves of one that fails. */
	async function runHalves(owners: readonly (readonly T[])[]): Promise<void> {
		const middle = Math.ceil(owners.length / 2);
		for (const half of [owners.slice(0, middle), owners.slice(middle)]) {
			if (!hasRun && failedAlone >= MAX_FAILED) return;
			const failure = await tryToRun(half.flat());
			if (failure === null) continue;
			if (half.length === 1) failedAlone++;
			else if (isPartial(failure.error)) await runHalves(half);
		}
	}

	const failure = await tryToRun(items);
	if (failure === null || !isPartial(failure.error)) return ran;
	const owners = [...Map.groupBy(items, ownerOf).values()];
	if (owners.length > 1) await runHalves(rotated(owners, number));
	return ran;
}

/** The same list, begun elsewhere for each number of a search. */
export function rotated<T>(list: readonly T[], number: number): readonly T[] {
	const start = Math.floor(((number * STEP) % 1) * list.length);
	return [...list.slice(start), ...list.slice(0, start)];
}
