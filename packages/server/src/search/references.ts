/**
 * Finds events by order id and customer e-mail. The index is built after publishing, which therefore costs the same:
 *
 * - In the background, for projects that published something on this node, and for all after a retention pass of this
 *   node. This takes a twentieth of the time at most, so it may fall behind while the service is busy.
 * - By a search, for its own project, if the index doesn't cover all of its log: it finds what was published just before.
 *
 * Each step extends a project's indexed range in one transaction. Any node may take it, and one that comes second has no
 * effect. So it doesn't matter who published an event: this version, a node of the previous one, or a store by SQL.
 */

import { SEARCH } from "../base/budgets.ts";
import { type Clock, type Repetition, repeat, restAfter } from "../base/clock.ts";
import { rowsOf } from "../base/collections.ts";
import type { Logger } from "../base/logger.ts";
import { RepeatedFailure } from "../base/repeated-failure.ts";
import type { EventReference, IndexCoverage, ReferencedEvents, Storage } from "../storage/port.ts";

const COLLECT_MS = 5_000;
/** How long to pause after a step at most, milliseconds. */
const PAUSE_MAX_MS = 60_000;
/** Steps of a project before the others have their turn. */
const STEPS_PER_ROUND = 4;

/** Values of one list are alternatives; lists combine. An empty list matches any event. */
export interface Sought {
	readonly orderIds: readonly string[];
	readonly customerEmails: readonly string[];
}

export interface FoundEvents extends IndexCoverage {
	/** Their numbers, newest first. */
	readonly seqs: readonly number[];
	/** Whether older events of a value were left out. */
	readonly capped: boolean;
}

/** Events whose attempts are listed: the newest `maxAttempts`, or all. */
interface AttemptedEvents extends FoundEvents {
	readonly maxAttempts?: number;
}

interface ReferencesOptions {
	readonly storage: Pick<
		Storage,
		"readUnindexed" | "indexReferences" | "findReferences" | "hasMoreAttempts" | "sweepReferences" | "listProjects"
	>;
	readonly clock: Clock;
	readonly logger: Logger;
}

interface Failure {
	readonly error: unknown;
	readonly projectId?: string;
}

export class References {
	readonly #options: ReferencesOptions;
	readonly #failure: RepeatedFailure;
	/** Projects with new events. */
	readonly #toIndex = new Set<string>();
	/** Projects in which retention may have left references. */
	readonly #toSweep = new Set<string>();
	/** Searches of the same project wait for the same steps. */
	readonly #catchingUp = new Map<string, Promise<void>>();
	#visitsAll = false;
	#steps: Repetition | null = null;

	constructor(options: ReferencesOptions) {
		this.#options = options;
		this.#failure = new RepeatedFailure(options, {
			failed: "failed to index order ids and customers",
			over: "order ids and customers are indexed again",
			level: "warn",
		});
	}

	start(): void {
		let round = this.#round();
		this.#steps = repeat(this.#options.clock, COLLECT_MS, async () => {
			const { done, value: pauseMs } = await round.next();
			if (done) round = this.#round();
			return pauseMs;
		});
	}

	async stop(): Promise<void> {
		await this.#steps?.stop();
	}

	/** Events of this project were published. */
	note(projectId: string): void {
		this.#toIndex.add(projectId);
	}

	/** Visits all projects: for events of other nodes and of stores, and to delete what retention left. */
	visitAll(): void {
		this.#visitsAll = true;
	}

	/** The newest events with one of the values of each list. */
	async find(projectId: string, { orderIds, customerEmails }: Sought): Promise<FoundEvents> {
		const lists = [
			orderIds.map((value): EventReference => ({ kind: "order", value })),
			customerEmails.map((value): EventReference => ({ kind: "customer", value })),
		].filter((list) => list.length > 0);
		const found: FoundEvents[] = [];
		let isCaughtUp = false;
		const findOne = async (reference: EventReference): Promise<ReferencedEvents> => {
			const call = { projectId, reference, limit: SEARCH.eventsOfReference };
			const events = await this.#options.storage.findReferences(call);
			if (events.complete || isCaughtUp) return events;
			isCaughtUp = true;
			await this.#catchUp(projectId);
			return this.#options.storage.findReferences(call);
		};
		for (const list of lists) found.push(await findAny(list, findOne));
		const [first, ...others] = found;
		if (first === undefined) throw new Error("A search needs a value.");
		const isInOthers = (seq: number) => others.every(({ seqs }) => seqs.includes(seq));
		return { ...first, seqs: first.seqs.filter(isInOthers), capped: found.some(({ capped }) => capped) };
	}

	/** The same for a list of their attempts, which considers fewer: see {@link SEARCH.attemptsOfReference}. */
	async findAttempted(projectId: string, sought: Sought): Promise<AttemptedEvents> {
		const found = await this.find(projectId, sought);
		if (found.seqs.length <= 1) return found;
		if (!found.capped) return { ...found, maxAttempts: SEARCH.attemptsOfReference };
		const { events, attempts } = SEARCH.ofCommonReference;
		return { ...found, seqs: found.seqs.slice(0, events), maxAttempts: attempts };
	}

	/** Whether such a list leaves something out: older events, or attempts. Takes as long as reading the list. */
	async isCapped(projectId: string, { seqs, capped, maxAttempts }: AttemptedEvents): Promise<boolean> {
		if (capped || maxAttempts === undefined) return capped;
		return this.#options.storage.hasMoreAttempts({ projectId, seqs, maxAttempts });
	}

	async #catchUp(projectId: string): Promise<void> {
		const steps = async () => {
			for (let step = 0; step < SEARCH.catchUpSteps && (await this.#step(projectId)); step++);
		};
		const running = this.#catchingUp.get(projectId) ?? steps().finally(() => this.#catchingUp.delete(projectId));
		this.#catchingUp.set(projectId, running);
		await running;
	}

	/** Returns whether there is more to index. */
	async #step(projectId: string): Promise<boolean> {
		const { storage } = this.#options;
		const part = await storage.readUnindexed({ projectId, limit: SEARCH.indexStep });
		if (part === null) return false;
		await storage.indexReferences({ projectId, part });
		return !part.isLast;
	}

	/**
	 * Takes a few steps for each project. Yields after each how long to pause, so that others use the database, and returns
	 * how long until the next round, milliseconds.
	 */
	async *#round(): AsyncGenerator<number, number> {
		const { storage } = this.#options;
		const failures: Failure[] = [];
		if (this.#visitsAll) await this.#noteAll().catch((error: unknown) => failures.push({ error }));
		const indexed = yield* this.#visit(this.#toIndex, (projectId) => this.#step(projectId), failures);
		const swept = yield* this.#visit(this.#toSweep, (projectId) => storage.sweepReferences({ projectId }), failures);
		for (const { error, ...project } of failures) this.#failure.failed(error, { ...project, retryInMs: COLLECT_MS });
		if (failures.length > 0) return COLLECT_MS;
		this.#failure.succeeded();
		return indexed || swept ? 0 : COLLECT_MS;
	}

	async #noteAll(): Promise<void> {
		for await (const { id } of rowsOf((page) => this.#options.storage.listProjects(page))) {
			this.#toIndex.add(id);
			this.#toSweep.add(id);
		}
		this.#visitsAll = false;
	}

	/**
	 * Takes a few steps for each of these projects, until one returns false. A project that has more to do, or whose step
	 * failed, remains for the next round. Returns whether one has more to do.
	 */
	async *#visit(
		projects: Set<string>,
		step: (projectId: string) => Promise<boolean>,
		failures: Failure[],
	): AsyncGenerator<number, boolean> {
		const { clock } = this.#options;
		let isMore = false;
		for (const projectId of [...projects]) {
			// Before its steps: events published during them add it again.
			projects.delete(projectId);
			let more = true;
			for (let steps = 0; more && steps < STEPS_PER_ROUND; steps++) {
				const from = clock.elapsed();
				more = await step(projectId).catch((error: unknown) => {
					failures.push({ projectId, error });
					projects.add(projectId);
					return false;
				});
				yield restAfter(clock, from, (1 - SEARCH.indexShare) / SEARCH.indexShare, PAUSE_MAX_MS);
			}
			if (more) projects.add(projectId);
			isMore ||= more;
		}
		return isMore;
	}
}

async function findAny(
	references: readonly EventReference[],
	findOne: (reference: EventReference) => Promise<ReferencedEvents>,
): Promise<FoundEvents> {
	const found: ReferencedEvents[] = [];
	// One after the other: a filter counts as one read.
	for (const reference of references) found.push(await findOne(reference));
	const newestFirst = [...new Set(found.flatMap(({ seqs }) => seqs))].sort((a, b) => b - a);
	const limit = SEARCH.eventsOfReference;
	const capped = newestFirst.length > limit || found.some((one) => one.capped);
	const { complete, since } = found[0]!;
	return { seqs: newestFirst.slice(0, limit), capped, complete, since };
}

/**
 * The `order_id` in the data of each of these events, by `seq`. Those of test events are only samples, so they are left
 * out, like events without one and those of more than {@link SEARCH.orderIdBytes}.
 */
export async function orderIdsOf(
	storage: Pick<Storage, "readOrderIds">,
	projectId: string,
	rows: readonly { readonly seq: number }[],
): Promise<ReadonlyMap<number, string>> {
	const seqs = [...new Set(rows.map(({ seq }) => seq))].filter((seq) => seq > 0);
	if (seqs.length === 0) return new Map();
	const found = await storage.readOrderIds({ projectId, seqs, maxBytes: SEARCH.orderIdBytes });
	return new Map(found.map(({ seq, orderId }) => [seq, orderId]));
}
