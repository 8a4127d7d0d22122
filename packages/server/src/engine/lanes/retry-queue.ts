import { WINDOWS } from "../../base/budgets.ts";
import { lowerBound } from "../../base/collections.ts";
import type { Retry, RetryPosition } from "../../storage/port.ts";

/** Maximum number of retries in memory; the others stay in storage until these are used up. */
const CAPACITY = WINDOWS.retriesPerQueue;

/** Before every position: nothing is known of storage yet. */
const START: RetryPosition = { dueAt: Number.NEGATIVE_INFINITY, seq: Number.NEGATIVE_INFINITY };

/**
 * The head of one lane's retry queue, in order of (dueAt, seq). Storage holds all of it, memory only the first part, so
 * ten million waiting retries take as much memory as a hundred.
 *
 * `horizon` divides the two: every waiting attempt up to it is in memory or in flight; those beyond it are only in
 * storage. Outcomes are settled even during a read. Their changes are recorded and applied to the rows that were read,
 * because the read may have seen an earlier state.
 */
export class RetryQueue {
	#head: Retry[] = [];
	/** Null: every waiting attempt is in memory. */
	#horizon: RetryPosition | null = START;
	#loading = false;
	/** Deliveries settled since the read began: the next attempt, or null if none waits. */
	readonly #changed = new Map<number, { readonly replay: number; readonly next: Retry | null }>();
	#outdated = false;

	/** Takes the next attempt, if it is in memory. */
	shift(): Retry | undefined {
		return this.#head.shift();
	}

	/** The next attempt, if it is in memory. */
	get next(): Retry | undefined {
		return this.#head[0];
	}

	/** Whether the next attempt is in memory and due by `now`. */
	hasDue(now: number): boolean {
		return (this.#head[0]?.dueAt ?? Number.POSITIVE_INFINITY) <= now;
	}

	/** Whether an attempt may be due by `now`, in memory or in storage. */
	mayHaveDue(now: number): boolean {
		return (this.nextDueAt ?? Number.POSITIVE_INFINITY) <= now;
	}

	/** When the next attempt may be due, milliseconds since the epoch; null if none waits. */
	get nextDueAt(): number | null {
		return this.#head[0]?.dueAt ?? this.#horizon?.dueAt ?? null;
	}

	wantsLoad(now: number): boolean {
		return !this.#loading && this.#head.length === 0 && this.#horizon !== null && this.#horizon.dueAt <= now;
	}

	/** Starts a read. @returns how many rows to request, since up to `inProgress` of the first ones may be in flight */
	beginLoad(inProgress: number): number {
		this.#loading = true;
		this.#outdated = false;
		this.#changed.clear();
		return CAPACITY / 2 + inProgress;
	}

	/** The read returned these rows from the start of the queue, at most `limit`. */
	endLoad(rows: readonly Retry[], limit: number, isInFlight: (retry: Retry) => boolean): void {
		this.#loading = false;
		if (this.#outdated) {
			this.#horizon = START;
			return;
		}
		const last = rows.at(-1);
		this.#horizon = rows.length >= limit && last ? { dueAt: last.dueAt, seq: last.seq } : null;
		this.#head = rows.filter((row) => row.replay > (this.#changed.get(row.seq)?.replay ?? -1) && !isInFlight(row));
		for (const { next } of this.#changed.values()) if (next) this.#insert(next);
		this.#changed.clear();
	}

	abandonLoad(): void {
		this.#loading = false;
	}

	add(retry: Retry): void {
		if (this.#loading) this.#changed.set(retry.seq, { replay: retry.replay, next: retry });
		else this.#insert(retry);
	}

	/** A delivery was settled and no longer waits in this queue. */
	forget({ seq, replay }: Pick<Retry, "seq" | "replay">): void {
		if (this.#loading) this.#changed.set(seq, { replay, next: null });
	}

	/** Another component changed the stored queue (a replay): its head must be read again. */
	invalidate(): void {
		this.#head = [];
		this.#horizon = START;
		this.#outdated = this.#loading;
	}

	#insert(retry: Retry): void {
		const there = this.#head.findIndex(({ seq }) => seq === retry.seq);
		if (there >= 0) this.#head.splice(there, 1);
		if (this.#horizon && isBefore(this.#horizon, retry)) return;
		const at = lowerBound(this.#head.length, (index) => isBefore(this.#head[index]!, retry));
		this.#head.splice(at, 0, retry);
		if (this.#head.length <= CAPACITY) return;
		this.#head.length = CAPACITY / 2;
		const { dueAt, seq } = this.#head.at(-1)!;
		this.#horizon = { dueAt, seq };
	}
}

function isBefore(a: RetryPosition, b: RetryPosition): boolean {
	return a.dueAt < b.dueAt || (a.dueAt === b.dueAt && a.seq < b.seq);
}
