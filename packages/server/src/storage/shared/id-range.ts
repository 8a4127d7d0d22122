import { lowestSuffixAt } from "../../base/ids.ts";

/** Sorts after every id. */
export const BEYOND_ALL_IDS = "~";

/** Ids contain their time, so bounds in time are bounds on stored ids: from `from`, before `to`. */
export function idRange({ since, until }: { since?: number | undefined; until?: number | undefined }): {
	from: string;
	to: string;
} {
	return {
		from: since === undefined ? "" : lowestSuffixAt(since),
		to: until === undefined ? BEYOND_ALL_IDS : lowestSuffixAt(until),
	};
}
