import { WINDOWS } from "../../base/budgets.ts";
import type { Retry, RetryPlace } from "../../storage/port.ts";

/** What is kept in memory; the rest stays in storage until this is used up. */
const CAPACITY = WINDOWS.retriesPerQueue;

/** Before every place: nothing is known of storage yet. */
const START: RetryPlace = { dueAt: Number.NEGATIVE_INFINITY, seq: Number.NEGATIVE_INFINITY };

/**
 * The head of one lane's retry queue, in order of (dueAt, seq). Storage holds the whole; here is what comes first, so
 * ten million waiting retries cost the same memory as a hundred.
 *
 * `horizon` divides the two: every waiting attempt up to it is here or under way; beyond it, they are in storage only.
 * While a window is being read, outcomes go on being settled; what they change is noted and laid over what was read,
 * for the read may have seen the rows of before.
 */
export class RetryQueue {
	#head: Retry[] = [];
	/** Null: everything that waits is here. */
	#horizon: RetryPlace | null = START;
	#loading = false;
	/** What was settled since the read began: the delivery's next attempt, or null when it waits no longer. */
	readonly #changed = new Map<number, { readonly replay: number; readonly next: Retry | null }>();
	#outdated = false;

	/** Takes the next attempt, if it is known here. */
	shift(): Retry | undefined {
		return this.#head.shift();
	}

	/** The next attempt, if it is known here. */
	get next(): Retry | undefined {
		return this.#head[0];
	}

	/** Whether the next attempt is known here and due by `now`. */
	hasDue(now: number): boolean {
		return (this.#head[0]?.dueAt ?? Number.POSITIVE_INFINITY) <= now;
	}

	/** Whether something is due by `now`, here or in storage. */
	mayHaveDue(now: number): boolean {
		const next = this.#head[0] ?? this.#horizon;
		return next !== undefined && next !== null && next.dueAt <= now;
	}

	/** When something is due, as far as is known: milliseconds since the epoch; null when nothing waits. */
	get nextDueAt(): number | null {
		return this.#head[0]?.dueAt ?? this.#horizon?.dueAt ?? null;
	}

	/** Whether a window should be read from storage now. */
	wantsLoad(now: number): boolean {
		return !this.#loading && this.#head.length === 0 && this.#horizon !== null && this.#horizon.dueAt <= now;
	}

	/** A read begins. @returns how many rows to ask for, when `underWay` of the first ones may be in flight */
	beginLoad(underWay: number): number {
		this.#loading = true;
		this.#outdated = false;
		this.#changed.clear();
		return CAPACITY / 2 + underWay;
	}

	/** The rows that were read, `limit` at most, from the queue's beginning. */
	endLoad(rows: readonly Retry[], limit: number, isUnderWay: (retry: Retry) => boolean): void {
		this.#loading = false;
		if (this.#outdated) {
			this.#horizon = START;
			return;
		}
		const last = rows.at(-1);
		this.#horizon = rows.length >= limit && last ? { dueAt: last.dueAt, seq: last.seq } : null;
		this.#head = rows.filter((row) => row.replay > (this.#changed.get(row.seq)?.replay ?? -1) && !isUnderWay(row));
		for (const { next } of this.#changed.values()) if (next) this.#insert(next);
		this.#changed.clear();
	}

	/** The read failed: try again. */
	abandonLoad(): void {
		this.#loading = false;
	}

	/** A delivery's next attempt was committed. */
	add(retry: Retry): void {
		if (this.#loading) this.#changed.set(retry.seq, { replay: retry.replay, next: retry });
		else this.#insert(retry);
	}

	/** A delivery was settled and waits no longer in this queue. */
	forget({ seq, replay }: Pick<Retry, "seq" | "replay">): void {
		if (this.#loading) this.#changed.set(seq, { replay, next: null });
	}

	/** Storage was changed by others (a replay): read the head anew. */
	invalidate(): void {
		this.#head = [];
		this.#horizon = START;
		this.#outdated = this.#loading;
	}

	#insert(retry: Retry): void {
		const there = this.#head.findIndex(({ seq }) => seq === retry.seq);
		if (there >= 0) this.#head.splice(there, 1);
		if (this.#horizon && isBefore(this.#horizon, retry)) return;
		let low = 0;
		let high = this.#head.length;
		while (low < high) {
			const middle = (low + high) >>> 1;
			if (isBefore(retry, this.#head[middle]!)) high = middle;
			else low = middle + 1;
		}
		this.#head.splice(low, 0, retry);
		if (this.#head.length <= CAPACITY) return;
		this.#head.length = CAPACITY / 2;
		const { dueAt, seq } = this.#head.at(-1)!;
		this.#horizon = { dueAt, seq };
	}
}

function isBefore(a: RetryPlace, b: RetryPlace): boolean {
	return a.dueAt < b.dueAt || (a.dueAt === b.dueAt && a.seq < b.seq);
}
