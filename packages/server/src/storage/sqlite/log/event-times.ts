import type { Connection } from "../connection/connection.ts";

/**
 * For each of these times (ascending), the `seq` of the first event appended from then on, or the next number if there
 * is none. Times rise with `seq`, so this is a binary search: a few index rows per time, and none for times between two
 * with the same result.
 */
export function firstSeqsAt(c: Connection, projectNo: number, times: readonly number[]): number[] {
	const { last_seq: lastSeq } = c.sql("SELECT last_seq FROM projects WHERE no = ?").get(projectNo)!;
	const end = (lastSeq as number) + 1;
	const seqs = new Array<number>(times.length);
	/** Fills in the times from `first` to before `last`, whose results are between two numbers. */
	const fill = (first: number, last: number, low: number, high: number): void => {
		if (low === high) seqs.fill(high, first, last);
		if (low === high || first === last) return;
		const middle = (first + last) >>> 1;
		const seq = firstSeqAt(c, projectNo, times[middle]!, low, high);
		seqs[middle] = seq;
		fill(first, middle, low, seq);
		fill(middle + 1, last, seq, high);
	};
	fill(0, times.length, 1, end);
	return seqs;
}

/** The first event from `low`, before `high`, that was appended at this time or later; `high` if there is none. */
function firstSeqAt(c: Connection, projectNo: number, time: number, low: number, high: number): number {
	// Retention may have removed events, so numbers may be missing.
	const next = c.sql(`
		SELECT seq, published_at FROM events WHERE project_no = ? AND seq >= ? AND seq < ? ORDER BY seq LIMIT 1`);
	let [from, to, found] = [low, high, high];
	while (from < to) {
		const middle = Math.floor((from + to) / 2);
		const event = next.get(projectNo, middle, to);
		if (event === undefined) to = middle;
		else if ((event.published_at as number) < time) from = (event.seq as number) + 1;
		else {
			found = event.seq as number;
			to = middle;
		}
	}
	return found;
}
