/**
 * Where nodes share a database, others publish to the projects that this node works, change their webhooks and queue
 * replays. A held lease keeps their alarms silent, so this node looks where they stand:
 * regularly, and at once when storage passes on a hint.
 *
 * And a change that this node makes is in force only when whoever works the project goes by it. The holder of a lease
 * therefore acknowledges the revision that it has loaded; whoever changed something waits for that, or for the lease to
 * end, before the change is answered.
 */
import type { Timer } from "../../base/clock.ts";
import type { AlarmMark, NeighbourStorage } from "../../storage/port.ts";
import type { Actor } from "./actor.ts";
import type { ActorContext } from "./context.ts";

/** Hints gather for this long, so that a busy neighbour costs a few reads a second. */
const GATHER_MS = 50;
/** Marks are read this often without any hint. */
const LOOK_MS = 1_000;
/** How many terms of a lease a change waits for whoever holds it. */
const PATIENCE = 1.5;
/** An acknowledgement is looked for this often. */
const ASK_MS = 20;
/** An acknowledgement whose lease's row somebody else holds is told again after this long, milliseconds, doubling … */
const TELL_AGAIN_MS = 10;
/** … up to this long. From then on looks at the neighbours tell it. */
const TELL_AGAIN_MAX_MS = 1_000;
/** Projects whose marks are read in one call. */
const MARKS_AT_ONCE = 1_000;

/** The revision that an actor goes by, which others are yet to be told of. */
interface News {
	readonly actor: Actor;
	readonly revision: number;
}

export interface NeighboursOptions {
	readonly storage: NeighbourStorage;
	readonly holder: string;
	/** The actors of this node. */
	readonly actors: ReadonlyMap<string, Actor>;
	/** Has an actor go by what is stored, with its lanes held meanwhile. */
	readonly reload: (actor: Actor) => Promise<void>;
	/** Takes up what nobody works. */
	readonly takeUp: () => void;
}

export class Neighbours {
	readonly #context: ActorContext;
	readonly #options: NeighboursOptions;
	/** The revision that was acknowledged for each actor's lease. */
	readonly #acknowledged = new WeakMap<Actor, number>();
	readonly #hinted = new Set<string>();
	#timer: Timer | null = null;
	#gathering: Timer | null = null;
	#unsubscribe: (() => void) | null = null;
	#looking: Promise<void> | null = null;
	#nodes = 1;
	#stopped = false;

	constructor(context: ActorContext, options: NeighboursOptions) {
		this.#context = context;
		this.#options = options;
	}

	start(): void {
		this.#unsubscribe = this.#options.storage.subscribe((projectIds) => this.#hint(projectIds));
		this.#lookAgain();
	}

	async stop(): Promise<void> {
		this.#stopped = true;
		this.#unsubscribe?.();
		this.#timer?.cancel();
		this.#gathering?.cancel();
		await this.#looking;
		try {
			await this.#options.storage.leave(this.#options.holder);
		} catch (error) {
			this.#context.logger.warn({ err: error }, "other nodes could not be told that this one leaves");
		}
	}

	/** Nodes that lived when this one last reported, itself included. */
	get nodes(): number {
		return this.#nodes;
	}

	/** How many projects are this node's part of all, so that work spreads evenly over the nodes. */
	async fairShare(): Promise<number> {
		const { nodes, projects } = await this.#options.storage.share(this.#options.holder);
		this.#nodes = nodes;
		return Math.ceil(projects / Math.max(1, nodes));
	}

	/** Tells others by which revision the actor goes. To be called once it has loaded. */
	async acknowledge(actors: readonly Actor[]): Promise<void> {
		const news = actors.flatMap((actor) => {
			const revision = actor.mark?.revision;
			// Another node may still apply an older revision, under a lease that the database has lost.
			if (revision === undefined || actor.isSuspended || (this.#acknowledged.get(actor) ?? -1) >= revision) return [];
			return [{ actor, revision }];
		});
		if (news.length === 0) return;
		const locked = await this.#tell(news);
		if (locked.length > 0) this.#tellAgain(locked, TELL_AGAIN_MS);
	}

	/** @returns those whose lease's row somebody else holds */
	async #tell(news: readonly News[]): Promise<News[]> {
		const told = news.map(({ actor, revision }) => ({ lease: actor.lease, revision }));
		const left = await this.#options.storage.acknowledge(told);
		const locked = new Set(left.map(({ lease }) => lease.projectId));
		for (const { actor, revision } of news) if (!locked.has(actor.projectId)) this.#acknowledged.set(actor, revision);
		return news.filter(({ actor }) => locked.has(actor.projectId));
	}

	/** Nobody waits for these meanwhile but who changed something of them. */
	#tellAgain(news: readonly News[], waitMs: number): void {
		const { disk, logger } = this.#context;
		disk.setTimeout(() => {
			const { actors } = this.#options;
			const left = news.filter(({ actor, revision }) => {
				return actors.get(actor.projectId) === actor && (this.#acknowledged.get(actor) ?? -1) < revision;
			});
			if (this.#stopped || left.length === 0) return;
			this.#tell(left).then(
				(locked) => {
					if (locked.length > 0 && waitMs < TELL_AGAIN_MAX_MS) this.#tellAgain(locked, waitMs * 2);
				},
				(error: unknown) => logger.warn({ err: error }, "other nodes could not be told of a load"),
			);
		}, waitMs);
	}

	/**
	 * Resolves when nobody goes by less of the project than what is stored now. Storage that is away is asked again, but not
	 * for longer than a lease that nobody could renew meanwhile would have lasted.
	 */
	async untilInForce(projectId: string): Promise<void> {
		const { actors } = this.#options;
		const { clock, leaseTermMs, logger } = this.#context;
		const deadline = clock.elapsed() + leaseTermMs * PATIENCE;
		let revision: number | null = null;
		while (!this.#stopped && !actors.get(projectId)?.inCharge) {
			try {
				revision ??= (await this.#options.storage.readMarks([projectId])).get(projectId)?.revision ?? -1;
				if (await this.#options.storage.isInForce(projectId, revision)) return;
			} catch (error) {
				logger.error({ err: error, projectId }, "whether a change is in force could not be read");
			}
			if (clock.elapsed() >= deadline) {
				logger.error({ projectId }, "another node holds this project and has not taken over a change of it");
				return;
			}
			await new Promise<void>((resolve) => clock.setTimeout(resolve, ASK_MS));
		}
	}

	#hint(projectIds: readonly string[]): void {
		if (this.#stopped) return;
		for (const projectId of projectIds) this.#hinted.add(projectId);
		this.#gathering ??= this.#context.clock.setTimeout(() => {
			this.#gathering = null;
			const hinted = [...this.#hinted];
			this.#hinted.clear();
			const worked = hinted.flatMap((id) => this.#options.actors.get(id) ?? []);
			if (worked.length < hinted.length) this.#options.takeUp();
			if (worked.length > 0) this.#looking = this.#look(worked);
		}, GATHER_MS);
	}

	#lookAgain(): void {
		this.#timer = this.#context.clock.setTimeout(() => {
			this.#looking = this.#look([...this.#options.actors.values()]);
			void this.#looking.finally(() => {
				if (!this.#stopped) this.#lookAgain();
			});
		}, LOOK_MS);
	}

	async #look(actors: readonly Actor[]): Promise<void> {
		try {
			for (let at = 0; at < actors.length; at += MARKS_AT_ONCE) {
				const some = actors.slice(at, at + MARKS_AT_ONCE);
				// What an actor learns while the marks are being read may be newer than they are.
				const before = some.map((actor) => actor.mark);
				const marks = await this.#options.storage.readMarks(some.map(({ projectId }) => projectId));
				await Promise.all(some.map((actor, i) => this.#compare(actor, before[i]!, marks.get(actor.projectId))));
				await this.acknowledge(some.filter((actor) => this.#options.actors.get(actor.projectId) === actor));
			}
		} catch (error) {
			this.#context.logger.error({ err: error, retryInMs: LOOK_MS }, "what other nodes changed could not be read");
		}
	}

	async #compare(actor: Actor, before: AlarmMark | null, stored: AlarmMark | undefined): Promise<void> {
		const known = actor.mark;
		if (before !== null && (stored === undefined || isBehind(stored, before))) {
			actor.rewound();
			return;
		}
		if (stored === undefined || known === null) return;
		if (stored.revision > known.revision) await this.#options.reload(actor);
		if (stored.lastSeq > known.lastSeq) actor.reaches(stored.lastSeq);
	}
}

/** Both numbers only rise, so the log or the project's webhooks went back. */
function isBehind(stored: AlarmMark, known: AlarmMark): boolean {
	return stored.lastSeq < known.lastSeq || stored.revision < known.revision;
}
