/**
 * Where nodes share a database, other nodes publish to the projects that this node owns, change their webhooks and
 * queue replays. Alarms of leased projects aren't polled, so this node checks the projects' marks itself: regularly,
 * and immediately when storage passes on a hint.
 *
 * Conversely, a change made by this node takes effect only once the project's owner applies it. So the lease holder
 * acknowledges the revision that it has loaded, and the node that made the change waits for that, or for the lease to
 * end, before it responds.
 */
import type { Timer } from "../../base/clock.ts";
import { type AlarmMark, type NeighbourStorage, StorageError } from "../../storage/port.ts";
import type { Actor } from "../actor/actor.ts";
import type { ActorContext } from "../actor/context.ts";

/** Hints are batched for this long, so that a busy peer costs only a few reads per second. */
const BATCH_MS = 50;
/** How often marks are read without a hint. */
const LOOK_MS = 1_000;
/** How long a change waits for the lease holder, in lease durations. */
const PATIENCE = 1.5;
/** How often to check for an acknowledgement. */
const CHECK_MS = 20;
/** First delay before repeating an acknowledgement whose lease row was locked, milliseconds. It doubles … */
const ACKNOWLEDGE_AGAIN_MS = 10;
/** … up to this. After that, the regular checks repeat it. */
const ACKNOWLEDGE_AGAIN_MAX_MS = 1_000;
/** Maximum number of projects whose marks are read in one call. */
const MARKS_BATCH = 1_000;

/** The revision that an actor applies and hasn't acknowledged yet. */
interface Unacknowledged {
	readonly actor: Actor;
	readonly revision: number;
}

export interface PeersOptions {
	readonly storage: NeighbourStorage;
	readonly holder: string;
	readonly actors: ReadonlyMap<string, Actor>;
	/** Makes an actor apply what is stored while its lanes are held. */
	readonly reload: (actor: Actor) => Promise<void>;
	/** Takes projects that no node owns. */
	readonly takeDue: () => void;
}

export class Peers {
	readonly #context: ActorContext;
	readonly #options: PeersOptions;
	/** The acknowledged revision of each actor's lease. */
	readonly #acknowledged = new WeakMap<Actor, number>();
	readonly #hinted = new Set<string>();
	#timer: Timer | null = null;
	#gathering: Timer | null = null;
	#unsubscribe: (() => void) | null = null;
	#looking: Promise<void> | null = null;
	#nodes = 1;
	#stopped = false;

	constructor(context: ActorContext, options: PeersOptions) {
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
			this.#context.logger.warn({ err: error }, "failed to announce to other nodes that this one is leaving");
		}
	}

	/** Nodes alive when this one last reported, including this one. */
	get nodes(): number {
		return this.#nodes;
	}

	/** This node's share of all projects, so that they are spread evenly over the nodes. */
	async fairShare(): Promise<number> {
		const { nodes, projects } = await this.#options.storage.share(this.#options.holder);
		this.#nodes = nodes;
		return Math.ceil(projects / Math.max(1, nodes));
	}

	/** Acknowledges the revisions that these actors apply. Call this once they have loaded. */
	async acknowledge(actors: readonly Actor[]): Promise<void> {
		const unacknowledged = actors.flatMap((actor) => {
			const revision = actor.mark?.revision;
			// Another node may still apply an older revision, under a lease that the database has lost.
			if (revision === undefined || actor.isSuspended || (this.#acknowledged.get(actor) ?? -1) >= revision) return [];
			return [{ actor, revision }];
		});
		if (unacknowledged.length === 0) return;
		const locked = await this.#tellOwners(unacknowledged);
		if (locked.length > 0) this.#acknowledgeLater(locked, ACKNOWLEDGE_AGAIN_MS);
	}

	/** @returns those whose lease row was locked */
	async #tellOwners(unacknowledged: readonly Unacknowledged[]): Promise<Unacknowledged[]> {
		const told = unacknowledged.map(({ actor, revision }) => ({ lease: actor.lease, revision }));
		const left = await this.#options.storage.acknowledge(told);
		const locked = new Set(left.map(({ lease }) => lease.projectId));
		for (const { actor, revision } of unacknowledged)
			if (!locked.has(actor.projectId)) this.#acknowledged.set(actor, revision);
		return unacknowledged.filter(({ actor }) => locked.has(actor.projectId));
	}

	/** Repeats these acknowledgements later. Only callers that changed these projects are waiting for them. */
	#acknowledgeLater(unacknowledged: readonly Unacknowledged[], waitMs: number): void {
		const { disk, logger } = this.#context;
		disk.setTimeout(() => {
			const { actors } = this.#options;
			const left = unacknowledged.filter(({ actor, revision }) => {
				return actors.get(actor.projectId) === actor && (this.#acknowledged.get(actor) ?? -1) < revision;
			});
			if (this.#stopped || left.length === 0) return;
			this.#tellOwners(left).then(
				(locked) => {
					if (locked.length > 0 && waitMs < ACKNOWLEDGE_AGAIN_MAX_MS) this.#acknowledgeLater(locked, waitMs * 2);
				},
				(error: unknown) => logger.warn({ err: error }, "failed to acknowledge a project's revision to other nodes"),
			);
		}, waitMs);
	}

	/**
	 * Resolves once every node that may run the project applies what is stored now, even if this node stops. If storage
	 * is unavailable, it asks again, but no longer than a lease that can't be renewed meanwhile would last.
	 */
	async untilInForce(projectId: string): Promise<void> {
		const { actors } = this.#options;
		const { clock, leaseTermMs, logger } = this.#context;
		const deadline = clock.elapsed() + leaseTermMs * PATIENCE;
		let revision: number | null = null;
		while (!actors.get(projectId)?.inCharge) {
			try {
				revision ??= (await this.#options.storage.readMarks([projectId])).get(projectId)?.revision ?? -1;
				if (await this.#options.storage.isInForce(projectId, revision)) return;
			} catch (error) {
				if (error instanceof StorageError && error.code === "closed") throw error;
				logger.error({ err: error, projectId }, "failed to read whether a change is in force");
			}
			if (clock.elapsed() >= deadline) {
				logger.error({ projectId }, "the node that owns this project hasn't applied a change of its webhooks");
				return;
			}
			await new Promise<void>((resolve) => clock.setTimeout(resolve, CHECK_MS));
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
			if (worked.length < hinted.length) this.#options.takeDue();
			if (worked.length > 0) this.#looking = this.#look(worked);
		}, BATCH_MS);
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
			for (let at = 0; at < actors.length; at += MARKS_BATCH) {
				const some = actors.slice(at, at + MARKS_BATCH);
				// An actor may learn of something newer while the marks are being read.
				const before = some.map((actor) => actor.mark);
				const marks = await this.#options.storage.readMarks(some.map(({ projectId }) => projectId));
				await Promise.all(some.map((actor, i) => this.#compare(actor, before[i]!, marks.get(actor.projectId))));
				await this.acknowledge(some.filter((actor) => this.#options.actors.get(actor.projectId) === actor));
			}
		} catch (error) {
			this.#context.logger.error({ err: error, retryInMs: LOOK_MS }, "failed to read what other nodes changed");
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

/** Both numbers only ever rise, so the log or the project's webhooks were rewound. */
function isBehind(stored: AlarmMark, known: AlarmMark): boolean {
	return stored.lastSeq < known.lastSeq || stored.revision < known.revision;
}
