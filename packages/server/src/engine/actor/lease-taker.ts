/**
 * Takes leases of projects that have work. Work is found in two ways: a publish or replay on this node pokes its project
 * at once; and storage is asked for projects whose alarm has rung (at start, when an alarm is due, and, where other nodes
 * share the database, regularly).
 *
 * When the node works as many projects as it may, others take turns with them. They wait in the order in which they were
 * poked; a project that was given back with work left waits behind them. Each place that becomes free goes to them and to
 * projects with rung alarms in equal parts, since storage knows projects that this node does not, and takes them in
 * turn. So of N projects that always have work, a node with L places serves each that it has heard of within
 * 2 · ⌈N / L⌉ turns, of a quantum and a poll each, and every other within 4 · ⌈N / L⌉.
 */
import { LONGEST_WAIT_MS, type Moment, momentOf, type Timer } from "../../base/clock.ts";
import type { Lease } from "../../storage/port.ts";
import { type ActorContext, isTrusted } from "./context.ts";
import type { Roster } from "./roster.ts";

/** Leases taken in one step. */
const ACQUIRE_AT_ONCE = 200;
/** Where other nodes publish too, rung alarms are looked for this often. */
const POLL_MS = 1_000;
/** Places that are made first when rung alarms wait, as nobody knows how many. While they still do, twice as many each time. */
const FIRST_PLACES = 8;
/** A lease whose row somebody else holds is tried again after this long, milliseconds of the machine's time, doubling … */
const LOCKED_MS = 5;
/** … up to this long. */
const LOCKED_MAX_MS = 1_000;
/** After storage failed, it is asked again after this long. */
const RETRY_MS = 1_000;

export type TakerContext = Pick<ActorContext, "storage" | "clock" | "disk" | "logger" | "leaseTermMs">;

export interface LeaseTakerOptions {
	readonly holder: string;
	readonly roster: Roster;
	/** Renews what this node holds if that is overdue: before it could be found as a lease that ran out. */
	readonly renewOverdue: () => Promise<void>;
	/** Renews what this node holds now. */
	readonly renew: () => Promise<unknown>;
	/** Looks anew how many projects are this node's part of all. */
	readonly renewShare: () => Promise<void>;
	/** Gives back up to so many projects that others may take turns with. */
	readonly makeRoom: (count: number) => void;
	/** A lease was taken that was asked for at `asked`. */
	readonly onTaken: (lease: Lease, asked: Moment) => void;
}

export class LeaseTaker {
	readonly #context: TakerContext;
	readonly #options: LeaseTakerOptions;
	readonly #roster: Roster;
	/** In the order of their first poke. */
	readonly #poked = new Set<string>();
	/** Projects for which a person requested something: these don't wait for a place. */
	readonly #requested = new Set<string>();
	/** Projects that were given back while others waited, and when they have work next: poked then. */
	readonly #later = new Map<string, number>();
	/** Projects with rung alarms wait for a place. */
	#rungWait = false;
	/** And none was to be had: nobody is idle, or has worked for a quantum. */
	#crowded = false;
	#places = FIRST_PLACES;
	/** Who gets the odd one of the places that become free. */
	#oddForPoked = false;
	/** Projects that this node held when the database's current epoch began. */
	readonly #heldBefore = new Set<string>();
	/** Projects that other nodes were found to work, and until when they are not asked for again. */
	readonly #elsewhere = new Map<string, number>();
	/** Projects whose lease's row somebody else held when it was to be taken. */
	readonly #locked = new Map<string, { waitMs: number; timer: Timer | null }>();
	#taking: Promise<void> | null = null;
	#lookForRung = false;
	#pollTimer: Timer | null = null;
	/** When rung alarms are looked for next; never, while they are being looked for. */
	#pollDue = Number.POSITIVE_INFINITY;
	/** The earliest alarm that was set in storage since it was last asked for the next one. */
	#alarmSet = Number.POSITIVE_INFINITY;
	/** When the last lease that this node let run out will have ended. Storage lists leases only once they have. */
	#lapsing = Number.NEGATIVE_INFINITY;

	constructor(context: TakerContext, options: LeaseTakerOptions) {
		this.#context = context;
		this.#options = options;
		this.#roster = options.roster;
	}

	/** Takes the project up, unless another node was just found to work it. */
	poke(projectId: string): void {
		if (!this.#mayPoke(projectId)) return;
		this.#poked.add(projectId);
		// Where no place is to be had, the next look brings it up.
		if (!this.#crowded) this.#take();
	}

	/** The same for what a person asked for: places beyond the limit are set aside for that. */
	ask(projectId: string): void {
		if (!this.#mayPoke(projectId)) return;
		this.#requested.add(projectId);
		this.#take();
	}

	/** Takes what this node held when the database's current epoch began. */
	takeAgain(projectIds: readonly string[]): void {
		if (this.#roster.closing) return;
		this.#heldBefore.clear();
		for (const projectId of projectIds) this.#heldBefore.add(projectId);
		this.takeRung();
	}

	/** Takes up projects whose alarm has rung. */
	takeRung(): void {
		this.#lookForRung = true;
		this.#take();
	}

	/** A project that was on its way back is not so any more, and has work next at `wakeAt`. */
	givenBack(projectId: string, wakeAt: number | null): void {
		if (this.#rungWait) {
			if (wakeAt !== null) this.#later.set(projectId, wakeAt);
			this.takeRung();
		} else if (this.#mayTakePoked()) this.#take();
		else if (wakeAt !== null) {
			this.#alarmSet = Math.min(this.#alarmSet, wakeAt);
			if (wakeAt < this.#pollDue) this.#pollAt(wakeAt);
		}
	}

	/** Polls for leases that this node has just let run out, until they have ended. */
	takeLapsed(): void {
		const { clock, leaseTermMs } = this.#context;
		this.#lapsing = clock.now() + leaseTermMs;
		const at = clock.now() + POLL_MS;
		if (at < this.#pollDue) this.#pollAt(at);
	}

	/** Looks for rung alarms no more. */
	sleep(): void {
		this.#pollTimer?.cancel();
		for (const { timer } of this.#locked.values()) timer?.cancel();
	}

	/** Resolves when nothing is being taken. */
	async whenDone(): Promise<void> {
		await this.#taking;
	}

	/** One step at a time. */
	#take(): void {
		if (this.#roster.closing) return;
		this.#taking ??= this.#takeAll()
			.then(
				() => true,
				(error: unknown) => {
					this.#context.logger.error(
						{ err: error, retryInMs: RETRY_MS },
						"projects could not be taken up: storage is away",
					);
					this.#pollAt(this.#context.clock.now() + RETRY_MS);
					return false;
				},
			)
			.then((succeeded) => {
				this.#taking = null;
				if (succeeded && (this.#mayTakeAsked() || this.#mayTakePoked() || this.#lookForRung)) this.#take();
			});
	}

	async #takeAll(): Promise<void> {
		while (this.#heldBefore.size > 0) {
			const some = [...this.#heldBefore].slice(0, ACQUIRE_AT_ONCE);
			await this.#acquire(this.#roster.limit, some, true);
			for (const projectId of some) this.#heldBefore.delete(projectId);
		}
		await this.#acquireAsked();
		await this.#acquirePoked();
		if (this.#lookForRung) {
			this.#lookForRung = false;
			await this.#options.renewOverdue();
			await this.#acquireRung();
			if (this.#roster.room(this.#roster.share) === 0) {
				// What it takes up at most may be of when there were more nodes: one that leaves hands over what it had at once.
				await this.#options.renewShare();
				await this.#acquireRung();
			}
		}
		await this.#setPoll();
	}

	/** When the places set aside are taken as well, projects wait in line with the others. */
	async #acquireAsked(): Promise<void> {
		const most = this.#roster.limit + this.#roster.setAside;
		for (;;) {
			const wanted = this.#next(this.#requested, ACQUIRE_AT_ONCE);
			if (wanted.length === 0) return;
			const room = this.#roster.room(most);
			for (const projectId of wanted.splice(room)) this.#poked.add(projectId);
			if (wanted.length > 0) await this.#acquireNamed(most, wanted);
		}
	}

	async #acquirePoked(): Promise<void> {
		this.#pokeDue();
		const room = this.#roster.room(this.#roster.limit);
		this.#oddForPoked = !this.#oddForPoked;
		let left = this.#rungWait ? Math.floor((room + Number(this.#oddForPoked)) / 2) : room;
		while (left > 0) {
			const wanted = this.#next(this.#poked, Math.min(ACQUIRE_AT_ONCE, left));
			if (wanted.length === 0) break;
			const taken = await this.#acquireNamed(this.#roster.limit, wanted);
			left = Math.min(left - taken, this.#roster.room(this.#roster.limit));
		}
	}

	/** @returns how many of them were taken */
	async #acquireNamed(most: number, wanted: readonly string[]): Promise<number> {
		const taken = await this.#acquire(most, wanted);
		if (this.#context.storage.capabilities.manyNodes)
			this.#noteElsewhere(wanted.filter((id) => !taken.has(id) && !this.#locked.has(id)));
		return taken.size;
	}

	async #acquireRung(): Promise<void> {
		while ((await this.#acquire(this.#roster.share)).size === ACQUIRE_AT_ONCE && !this.#roster.closing);
	}

	/** Those that can be taken now, off the list: a poke that comes while they are being taken puts them back. */
	#next(list: Set<string>, most: number): string[] {
		const next: string[] = [];
		for (const projectId of list) {
			if (next.length === most) break;
			if (!this.#roster.isFree(projectId)) continue;
			list.delete(projectId);
			next.push(projectId);
		}
		return next;
	}

	/** Projects that were given back while others waited, and have work again, stand in line behind them. */
	#pokeDue(): void {
		const now = this.#context.clock.now();
		for (const [projectId, at] of this.#later) {
			if (at > now) continue;
			this.#later.delete(projectId);
			this.#poked.add(projectId);
		}
	}

	/** Unless another node was just found to work it, or it is tried again soon anyway. */
	#mayPoke(projectId: string): boolean {
		if (this.#roster.closing || this.#isWaiting(projectId)) return false;
		return (this.#elsewhere.get(projectId) ?? 0) <= this.#context.clock.now();
	}

	#mayTakeAsked(): boolean {
		return [...this.#requested].some((projectId) => this.#roster.isFree(projectId));
	}

	#mayTakePoked(): boolean {
		if (this.#roster.room(this.#roster.limit) === 0) return false;
		for (const projectId of this.#poked) if (this.#roster.isFree(projectId)) return true;
		return false;
	}

	#countPoked(most: number): number {
		let count = 0;
		for (const projectId of this.#poked) {
			if (count === most) break;
			if (this.#roster.isFree(projectId)) count += 1;
		}
		return count;
	}

	/** Whoever works them hears of their news by itself. */
	#noteElsewhere(projectIds: readonly string[]): void {
		const now = this.#context.clock.now();
		for (const [projectId, until] of this.#elsewhere) if (until <= now) this.#elsewhere.delete(projectId);
		for (const projectId of projectIds) this.#elsewhere.set(projectId, now + POLL_MS);
	}

	/** Takes these, or those that have rung, as long as this node works no more than `most`. */
	async #acquire(most: number, projectIds?: readonly string[], heldBefore?: boolean): Promise<ReadonlySet<string>> {
		const { storage, clock } = this.#context;
		const { holder, onTaken, renew } = this.#options;
		const room = Math.min(ACQUIRE_AT_ONCE, this.#roster.room(most));
		if (room <= 0) return new Set();
		const asked = momentOf(clock);
		let locked: readonly string[] = [];
		const leases = await storage.acquireLeases(holder, room, projectIds, heldBefore, (ids) => {
			locked = ids;
		});
		for (const lease of leases) onTaken(lease, asked);
		for (const projectId of projectIds ?? []) if (!locked.includes(projectId)) this.#locked.delete(projectId);
		for (const projectId of locked) this.#tryAgain(projectId, heldBefore === true);
		// Storage answered so late that these leases cannot be trusted: their projects would stand until the next renewal.
		if (leases.length > 0 && !isTrusted(this.#context, asked)) await renew();
		return new Set(leases.map(({ projectId }) => projectId));
	}

	/** Somebody else holds the lease's row, mostly for a moment: nobody is known to work the project. */
	#tryAgain(projectId: string, heldBefore: boolean): void {
		if (this.#roster.closing) return;
		const { disk } = this.#context;
		const waitMs = Math.min(LOCKED_MAX_MS, 2 * (this.#locked.get(projectId)?.waitMs ?? LOCKED_MS / 2));
		const waiting: { waitMs: number; timer: Timer | null } = { waitMs, timer: null };
		waiting.timer = disk.setTimeout(() => {
			waiting.timer = null;
			if (heldBefore) this.takeAgain([projectId]);
			else this.poke(projectId);
		}, waitMs);
		this.#locked.set(projectId, waiting);
	}

	/** Whether the project is tried again by itself soon. */
	#isWaiting(projectId: string): boolean {
		const { timer = null } = this.#locked.get(projectId) ?? {};
		return timer !== null;
	}

	/** Looks for rung alarms again when the next one is due. What is rung and was not taken (no room) waits a while. */
	async #setPoll(): Promise<void> {
		const { storage, clock } = this.#context;
		this.#alarmSet = Number.POSITIVE_INFINITY;
		const next = await storage.nextAlarm();
		const now = clock.now();
		const longest = storage.capabilities.manyNodes ? POLL_MS : LONGEST_WAIT_MS;
		const due = Math.min(next ?? Number.POSITIVE_INFINITY, this.#alarmSet);
		this.#makeRoom(next !== null && next <= now);
		const lapsed = this.#lapsing > now ? Math.min(this.#lapsing, now + POLL_MS) : Number.POSITIVE_INFINITY;
		this.#pollAt(Math.min(due > now ? due : now + POLL_MS, lapsed, now + longest));
	}

	/** Where projects wait for a place, others give theirs up. */
	#makeRoom(isRung: boolean): void {
		const { limit } = this.#roster;
		// Whoever was poked has rung as well.
		this.#rungWait = isRung && this.#roster.room(limit) === 0;
		this.#crowded = false;
		if (!this.#rungWait) {
			this.#places = FIRST_PLACES;
			// From here on alarms do.
			this.#later.clear();
			return;
		}
		const poked = this.#countPoked(ACQUIRE_AT_ONCE);
		this.#options.makeRoom(poked > 0 ? poked : this.#places);
		if (poked === 0) this.#places = Math.min(ACQUIRE_AT_ONCE, this.#places * 2);
		if (this.#roster.room(limit) > 0) this.#lookForRung = true;
		else this.#crowded = true;
	}

	#pollAt(at: number): void {
		if (this.#roster.closing) return;
		this.#pollTimer?.cancel();
		this.#pollDue = at;
		this.#pollTimer = this.#context.clock.setTimeout(() => {
			this.#pollDue = Number.POSITIVE_INFINITY;
			this.takeRung();
		}, at - this.#context.clock.now());
	}
}
