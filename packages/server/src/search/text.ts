/**
 * Searches the bodies of events and the recorded responses of attempts for a text, newest first, in steps between which
 * other reads have their turn. Each step reads whichever of the two logs has been searched less far back.
 */
import { SEARCH } from "../base/budgets.ts";
import type { Clock } from "../base/clock.ts";
import type { FoundResponse, FoundText, ReadLimit, Storage } from "../storage/port.ts";

/** Where to continue in each log: before this, from its end if undefined, or nowhere if null. */
export interface TextPosition {
	readonly bodies?: number | null | undefined;
	readonly responses?: string | null | undefined;
}

interface TextSearch {
	readonly projectId: string;
	readonly text: string;
	readonly from: TextPosition;
	readonly limit: number;
	/** Runs a step in the caller's turn. */
	readonly inTurn: <T>(step: () => Promise<T>) => Promise<T>;
	/** Whether the client has left, so that nothing more needs to be read. */
	readonly isGone: () => boolean;
}

export type TextMatch =
	| { readonly in: "body"; readonly match: FoundText }
	| { readonly in: "response"; readonly match: FoundResponse };

export interface TextPage {
	/** Newest first: bodies by when their events were published, responses by when their attempts started. */
	readonly found: readonly TextMatch[];
	/** How many events and attempts were read. */
	readonly events: number;
	readonly attempts: number;
	/** Everything from this time on was read; null if nothing was. */
	readonly reached: number | null;
	/** Null at the end. */
	readonly next: TextPosition | null;
}

/** Ends at the limit, at the beginning of both logs, or after {@link SEARCH.textMs}, but not before a step of each. */
export async function searchText(
	{ storage, clock }: { readonly storage: Pick<Storage, "searchBodies" | "searchResponses">; readonly clock: Clock },
	{ projectId, text, from, limit, inTurn, isGone }: TextSearch,
): Promise<TextPage> {
	const end = clock.elapsed() + SEARCH.textMs;
	const bodies = new LogSearch<number, FoundText>(from.bodies, {
		read: async (before, limit) => {
			const { events, ...step } = await storage.searchBodies({ projectId, text, before, limit });
			return { ...step, count: events };
		},
		timeOf: ({ publishedAt }) => publishedAt,
		positionOf: ({ seq }) => seq,
	});
	const responses = new LogSearch<string, FoundResponse>(from.responses, {
		read: async (before, limit) => {
			const { attempts, ...step } = await storage.searchResponses({ projectId, text, before, limit });
			return { ...step, count: attempts };
		},
		timeOf: ({ attempt }) => attempt.startedAt,
		positionOf: ({ attempt }) => attempt.id,
	});
	const isFull = () => bodies.foundSince(responses.reached) + responses.foundSince(bodies.reached) >= limit;
	for (let step = 0; !(bodies.isOver && responses.isOver) && !isFull() && !isGone(); step++) {
		if (step >= 2 && clock.elapsed() >= end) break;
		await inTurn(() => (bodies.reached >= responses.reached ? bodies.step() : responses.step()));
	}
	// The next call finds older matches again.
	const reached = Math.max(bodies.reached, responses.reached);
	const found: TextMatch[] = [];
	let last = reached;
	while (found.length < limit && (bodies.isLeft || responses.isLeft)) {
		const newest = Math.max(bodies.newest, responses.newest);
		if (newest < reached) break;
		last = newest;
		found.push(
			bodies.newest === newest ? { in: "body", match: bodies.take() } : { in: "response", match: responses.take() },
		);
	}
	const next = { bodies: bodies.next, responses: responses.next };
	const isOver = next.bodies === null && next.responses === null;
	const until = isOver ? Math.min(bodies.oldest, responses.oldest) : found.length === limit ? last : reached;
	return {
		found,
		events: bodies.count,
		attempts: responses.count,
		reached: Number.isFinite(until) ? until : null,
		next: isOver ? null : next,
	};
}

interface Step<P, F> {
	readonly found: readonly F[];
	readonly count: number;
	readonly reached: number | null;
	readonly next: P | null;
}

interface Log<P, F> {
	readonly read: (before: P | null, limit: ReadLimit) => Promise<Step<P, F>>;
	readonly timeOf: (found: F) => number;
	readonly positionOf: (found: F) => P;
}

/**
 * The search of one log. Entries are read newest first, and their times (milliseconds since the Unix epoch) only fall: one
 * written by a clock that was ahead counts as written when the next newer entry was. So a page that isn't full takes
 * everything found in the log that was read less far back, and each call gets further.
 */
class LogSearch<P, F> {
	readonly #log: Log<P, F>;
	/** What was found and not taken yet. */
	readonly #left: { readonly found: F; readonly writtenAt: number }[] = [];
	/** The position of the last one taken; at first, where this search began. */
	#taken: P | null | undefined;
	#before: P | null | undefined;
	/** How many entries were read, and when the oldest of them was written: infinity if none was. */
	count = 0;
	oldest = Number.POSITIVE_INFINITY;

	constructor(from: P | null | undefined, log: Log<P, F>) {
		this.#log = log;
		this.#taken = from;
		this.#before = from;
	}

	async step(): Promise<void> {
		const { found, count, reached, next } = await this.#log.read(this.#before ?? null, SEARCH.textStep);
		for (const one of found) {
			this.oldest = Math.min(this.oldest, this.#log.timeOf(one));
			this.#left.push({ found: one, writtenAt: this.oldest });
		}
		this.count += count;
		this.oldest = Math.min(this.oldest, reached ?? this.oldest);
		this.#before = next;
	}

	get isOver(): boolean {
		return this.#before === null;
	}

	/** From when on everything was read: infinity before the first step, negative infinity at the end. */
	get reached(): number {
		return this.isOver ? Number.NEGATIVE_INFINITY : this.oldest;
	}

	/** How many of those found were written at this time or later. */
	foundSince(time: number): number {
		return this.#left.filter(({ writtenAt }) => writtenAt >= time).length;
	}

	/** Whether some of those found weren't taken. */
	get isLeft(): boolean {
		return this.#left.length > 0;
	}

	/** When the next one to take was written; negative infinity if there is none. */
	get newest(): number {
		return this.#left[0]?.writtenAt ?? Number.NEGATIVE_INFINITY;
	}

	take(): F {
		const { found } = this.#left.shift()!;
		this.#taken = this.#log.positionOf(found);
		return found;
	}

	/** Where to continue: what wasn't taken has to be found again. */
	get next(): P | null | undefined {
		return this.isLeft ? this.#taken : this.#before;
	}
}
