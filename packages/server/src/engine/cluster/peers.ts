/**
 * How this node's actors and its peers keep up with each other. Alarms of leased projects aren't polled, so actors learn
 * from their projects' marks what other nodes published, changed and queued.
 *
 * Conversely, a change made by this node takes effect only once the project's owner applies it. So the lease holder
 * acknowledges the revision that it has loaded, and the node that made the change waits for that, or for the lease to
 * end, before it responds.
 */
import { sleep } from "../../base/clock.ts";
import { type AlarmMark, type PeerStorage, StorageError } from "../../storage/port.ts";
import type { Actor } from "../actor/actor.ts";
import type { ActorContext } from "../actor/context.ts";
import type { Marks, MarkWatcher } from "./mark-poller.ts";

/** How long a change waits for the lease holder, in lease durations. */
const PATIENCE = 1.5;
const CHECK_MS = 20;
/** First delay before repeating an acknowledgement whose lease row was locked, milliseconds. It doubles … */
const ACKNOWLEDGE_AGAIN_MS = 10;
/** … up to this. After that, the regular checks repeat it. */
const ACKNOWLEDGE_AGAIN_MAX_MS = 1_000;
/** Delay before marks are read again for actors that have to catch up, milliseconds. */
const CATCH_UP_AGAIN_MS = 500;

/**
 * How long after a lease's end to ask storage for it, milliseconds. Without this, a node that reports just before each
 * renewal would ask just before each next report, as soon as renewals are a little late.
 */
const ENDED_MS = 250;

/** What a node learns when it reports that it is alive. */
export interface Report {
	/** This node's share of all projects, so that they are spread evenly over the nodes. */
	readonly fairShare: number;
	/** When a project is next due, or a lease has ended unless it is renewed; null if there is none. */
	readonly nextDue: number | null;
}

/** The revision that an actor applies and hasn't acknowledged yet. */
interface Unacknowledged {
	readonly actor: Actor;
	readonly revision: number;
}

export interface PeersOptions {
	readonly storage: PeerStorage;
	readonly actors: ReadonlyMap<string, Actor>;
	/** Makes an actor apply what is stored while its lanes are held. */
	readonly reload: (actor: Actor) => Promise<void>;
}

export class Peers implements MarkWatcher {
	readonly #context: ActorContext;
	readonly #options: PeersOptions;
	readonly #acknowledged = new WeakMap<Actor, number>();
	readonly #reloading = new Map<Actor, number>();
	/** Nodes alive when this one last reported, including this one. */
	nodes = 1;
	#left = false;

	constructor(context: ActorContext, options: PeersOptions) {
		this.#context = context;
		this.#options = options;
	}

	async leave(): Promise<void> {
		this.#left = true;
		const { holder, logger } = this.#context;
		try {
			await this.#options.storage.leave({ holder });
		} catch (error) {
			logger.warn({ err: error }, "failed to announce to other nodes that this one is leaving");
		}
	}

	/** Reports that this node is alive. */
	async report(): Promise<Report> {
		const { nodes, projects, nextAlarm, nextEnd } = await this.#options.storage.share({ holder: this.#context.holder });
		this.nodes = nodes;
		const times = [nextAlarm, nextEnd === null ? null : nextEnd + ENDED_MS].filter((at) => at !== null);
		return {
			fairShare: Math.ceil(projects / Math.max(1, nodes)),
			nextDue: times.length === 0 ? null : Math.min(...times),
		};
	}

	/** When to ask for the lease that ends next, unless it is renewed; null if there is none. */
	async nextEnd(): Promise<number | null> {
		const end = await this.#options.storage.nextEnd();
		return end === null ? null : end + ENDED_MS;
	}

	/** Acknowledges the revisions that these actors apply. Call this once they have loaded. */
	async acknowledge(actors: readonly Actor[]): Promise<void> {
		const unacknowledged = actors.flatMap((actor) => {
			const revision = actor.mark?.revision;
			// Another node may still apply an older revision, under a lease that the database has lost.
			if (revision === undefined || actor.lease.isSuspended || (this.#acknowledged.get(actor) ?? -1) >= revision)
				return [];
			return [{ actor, revision }];
		});
		if (unacknowledged.length === 0) return;
		const locked = await this.#sendAcknowledgements(unacknowledged);
		if (locked.length > 0) this.#acknowledgeLater(locked, ACKNOWLEDGE_AGAIN_MS);
	}

	/** @returns those whose lease row was locked */
	async #sendAcknowledgements(unacknowledged: readonly Unacknowledged[]): Promise<Unacknowledged[]> {
		const acknowledgements = unacknowledged.map(({ actor, revision }) => ({ lease: actor.lease.current, revision }));
		const left = await this.#options.storage.acknowledge({ acknowledgements });
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
			if (this.#left || left.length === 0) return;
			this.#sendAcknowledgements(left).then(
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
		const { actors, storage } = this.#options;
		const { clock, leaseTermMs, logger } = this.#context;
		const deadline = clock.elapsed() + leaseTermMs * PATIENCE;
		let revision: number | null = null;
		while (!actors.get(projectId)?.inCharge) {
			try {
				revision ??= (await storage.readMarks({ projectIds: [projectId] })).get(projectId)?.revision ?? -1;
				if (await storage.isInForce({ projectId, revision })) return;
			} catch (error) {
				if (error instanceof StorageError && error.code === "closed") throw error;
				logger.error({ err: error, projectId }, "failed to read whether a change is in force");
			}
			if (clock.elapsed() >= deadline) {
				logger.error({ projectId }, "the node that owns this project hasn't applied a change of its webhooks");
				return;
			}
			await sleep(clock, CHECK_MS);
		}
	}

	/** Resolves once these actors, unless they have ended, apply what is stored now. Failed reads are retried. */
	async catchUp(actors: readonly Actor[]): Promise<void> {
		const { actors: owned, storage, reload } = this.#options;
		const { clock, logger } = this.#context;
		for (;;) {
			const left = actors.filter((actor) => owned.get(actor.projectId) === actor);
			if (left.length === 0) return;
			try {
				const projectIds = left.map(({ projectId }) => projectId);
				const compare = this.beforeRead(projectIds);
				// What they are reading may be older, and can't be compared yet.
				const loading = left.filter(({ mark }) => mark === null);
				await Promise.all([storage.readMarks({ projectIds }).then(compare), ...loading.map(reload)]);
				return;
			} catch (error) {
				logger.error({ err: error, retryInMs: CATCH_UP_AGAIN_MS }, "failed to read what other nodes changed");
				await sleep(clock, CATCH_UP_AGAIN_MS);
			}
		}
	}

	get projectIds(): Iterable<string> {
		return this.#options.actors.keys();
	}

	watches(projectId: string): boolean {
		return this.#options.actors.has(projectId);
	}

	/** An actor may learn of something newer while the marks are being read, so this keeps what it knows now. */
	beforeRead(projectIds: readonly string[]): (marks: Marks) => Promise<void> {
		const { actors } = this.#options;
		const watched = projectIds.flatMap((projectId) => actors.get(projectId) ?? []);
		const known = watched.map(({ mark }) => mark);
		return async (marks) => {
			await Promise.all(watched.map((actor, i) => this.#compare(actor, known[i]!, marks.get(actor.projectId))));
			await this.acknowledge(watched.filter((actor) => actors.get(actor.projectId) === actor));
		};
	}

	async #compare(actor: Actor, before: AlarmMark | null, stored: AlarmMark | undefined): Promise<void> {
		const known = actor.mark;
		if (before !== null && (stored === undefined || isBehind(stored, before))) {
			actor.post({ kind: "rewound" });
			return;
		}
		if (stored === undefined || known === null) return;
		if (stored.revision > known.revision) await this.#reload(actor, stored.revision);
		if (stored.lastSeq > known.lastSeq) actor.post({ kind: "reaches", lastSeq: stored.lastSeq });
	}

	/** Reloads the actor, unless it is already being reloaded for this revision or a later one. */
	async #reload(actor: Actor, revision: number): Promise<void> {
		if ((this.#reloading.get(actor) ?? -1) >= revision) return;
		this.#reloading.set(actor, revision);
		try {
			await this.#options.reload(actor);
		} finally {
			if (this.#reloading.get(actor) === revision) this.#reloading.delete(actor);
		}
	}
}

/** Both numbers only ever rise, so the log or the project's webhooks were rewound. */
function isBehind(stored: AlarmMark, known: AlarmMark): boolean {
	return stored.lastSeq < known.lastSeq || stored.revision < known.revision;
}
