import { HANDSHAKES } from "../../base/budgets.ts";
import type { Clock, Timer } from "../../base/clock.ts";
import { Bag, type Baggable, BoundedMap } from "../../base/collections.ts";
import { Turns } from "../../base/turns.ts";
import { SendFailure } from "../errors.ts";

/**
 * Keeps receivers from using up the main thread with TLS handshakes. OpenSSL checks a receiver's certificates in one
 * step, which nothing can interrupt, and a long chain of large keys takes a noticeable part of a second.
 *
 * A *metered* handshake is one whose CPU time and bytes are counted. Such connections are slower, so only these are
 * metered: those with hosts that haven't proven cheap yet, a random part of the others, because a receiver may change its
 * certificates at any time, and any beyond a few at a time.
 *
 * After a *costly* handshake its project pays:
 *
 * - It rests for a multiple of that CPU time. Meanwhile only hosts that have proven cheap may be connected to.
 * - All its handshakes are metered for a much longer time, and those with other hosts take place one at a time.
 * - Its other handshakes in progress start again, under these rules.
 *
 * The attempt itself fails only if it took too many bytes, or if the host's previous metered handshake was costly, too:
 * a single one may be the machine's fault (a garbage collection, for example). So the receivers of a project can use only
 * a small part of the CPU time, however many hosts they have.
 *
 *     waiting ──▶ running ──▶ ended
 *        ▲           │
 *        └───────────┘ another one of the project was costly
 */
export class Handshakes {
	/** Shares the main thread among the projects whose metered handshakes have bytes to process. */
	readonly turns: Turns;
	readonly options: HandshakesOptions;
	/** Number of a host's latest metered handshakes that were costly; 0 if it has proven cheap. */
	readonly #hosts = new BoundedMap<string, number>(HANDSHAKES.hosts);
	readonly #projects = new BoundedMap<string, ProjectHandshakes>(HANDSHAKES.projects);
	/** Number of costly handshakes so far. */
	costly = 0;

	constructor(options: HandshakesOptions) {
		this.options = options;
		this.turns = new Turns(HANDSHAKES.msPerTurn, options.clock);
	}

	/** Requests a handshake with a host, given as `name:port`. Calls `user.admitted`, possibly before it returns. */
	request(projectId: string, host: string, user: HandshakeUser): Handshake {
		const handshake = new Handshake(this, this.#projectOf(projectId), host, user);
		this.#enqueue(handshake);
		return handshake;
	}

	/** It is costly. @returns why the attempt fails; null if it may continue */
	charge(handshake: Handshake, cpuMs: number): SendFailure | null {
		const { host, bytes } = handshake;
		// Its own record may be gone, if the handshake has ended and the receiver floods the connection.
		const project = this.#projectOf(handshake.project.id);
		project.charge(cpuMs, this.options.clock.elapsed());
		if (!handshake.isCostly) {
			handshake.isCostly = true;
			this.costly++;
			this.#hosts.set(host, (this.#hosts.get(host) ?? 0) + 1);
			this.options.onCostly?.({ projectId: project.id, host, cpuMs: Math.round(cpuMs), bytes });
		}
		for (const other of project.running.toArray())
			if (other !== handshake && (!other.isMetered || this.#restMs(project, this.#isProven(other)) > 0))
				this.#enqueue(other);
		if (bytes <= HANDSHAKES.bytes && this.#hosts.get(host) === 1) return null;
		return new SendFailure("tls_costly", `the TLS handshake with ${host} takes too much CPU time or too many bytes`);
	}

	ended(handshake: Handshake, proof: Proof): void {
		const { project, host } = handshake;
		if (proof === "cheap") this.#hosts.set(host, 0);
		// Costly chains usually fail the check. Without this, they would still be unmetered the next time.
		if (proof === "failed" && this.#isProven(handshake)) this.#hosts.delete(host);
		project.remove(handshake);
		this.#admitNext(project);
		const isForgotten = this.#projects.get(project.id) !== project;
		if (project.isEmpty && !this.#isPaying(project) && !isForgotten) this.#projects.delete(project.id);
	}

	#projectOf(id: string): ProjectHandshakes {
		const known = this.#projects.get(id);
		if (known !== undefined) return known;
		const project = new ProjectHandshakes(id);
		this.#projects.set(id, project);
		return project;
	}

	/** Runs a handshake, or lets it wait until it may run. If it was running, it starts again. */
	#enqueue(handshake: Handshake): void {
		const { project } = handshake;
		if (project.remove(handshake)) handshake.user.stopped();
		handshake.isProven = this.#isProven(handshake);
		project.queueOf(handshake).add(handshake);
		this.#admitNext(project);
	}

	#admitNext(project: ProjectHandshakes): void {
		const { proven, unproven } = project.waiting;
		for (const queue of [proven, unproven])
			for (const handshake of queue) {
				if (!this.#mayRun(handshake)) break;
				this.#admit(handshake);
			}
		this.#setTimer(project);
	}

	#mayRun({ project, isProven }: Handshake): boolean {
		if (this.#restMs(project, isProven) > 0) return false;
		return isProven || project.runningUnproven === 0 || !this.#isPaying(project);
	}

	/** Tries again once the project has rested. */
	#setTimer(project: ProjectHandshakes): void {
		project.timer?.cancel();
		const { proven, unproven } = project.waiting;
		const restMs = this.#restMs(project, proven.size > 0);
		const isResting = proven.size + unproven.size > 0 && restMs > 0;
		project.timer = isResting ? this.options.clock.setTimeout(() => this.#admitNext(project), restMs) : null;
	}

	#admit(handshake: Handshake): void {
		const { project, isProven } = handshake;
		handshake.isMetered =
			!isProven ||
			this.#isPaying(project) ||
			project.runningUnmetered >= HANDSHAKES.unmetered ||
			this.options.random() < HANDSHAKES.meteredShare;
		project.run(handshake);
		handshake.user.admitted();
	}

	#isProven({ host }: Handshake): boolean {
		return this.#hosts.get(host) === 0;
	}

	/** Whether all of its handshakes are metered. */
	#isPaying(project: ProjectHandshakes): boolean {
		return project.meteredUntil > this.options.clock.elapsed();
	}

	/** How long hosts of this kind must wait because of earlier costly handshakes, milliseconds; at most 0 if not. */
	#restMs(project: ProjectHandshakes, isProven: boolean): number {
		return project.restUntil - this.options.clock.elapsed() - (isProven ? HANDSHAKES.provenRestMs : 0);
	}
}

/** One handshake, from the request for it until it has ended. */
export class Handshake implements Baggable {
	bagIndex = -1;
	readonly project: ProjectHandshakes;
	readonly host: string;
	readonly user: HandshakeUser;
	/** Whether its host had proven cheap when it began to wait. */
	isProven = false;
	isMetered = false;
	isCostly = false;
	/** What it took so far, if it is metered, including earlier starts. */
	bytes = 0;
	cpuMs = 0;
	/** Why the attempt fails, if it took too much. */
	failure: SendFailure | null = null;
	#chargedMs = 0;
	/** When the chunk being processed began, by the thread's CPU time and by the clock; null between chunks. */
	#began: { readonly cpuMs: number; readonly at: number } | null = null;
	isOver = false;
	readonly #table: Handshakes;

	constructor(table: Handshakes, project: ProjectHandshakes, host: string, user: HandshakeUser) {
		this.#table = table;
		this.project = project;
		this.host = host;
		this.user = user;
	}

	/** Whether it waits for permission to connect. */
	get isWaiting(): boolean {
		return !this.isOver && !this.project.running.has(this);
	}

	/** Hands bytes over with `work`, and counts what that takes. @returns why the attempt fails; null if it continues */
	process(bytes: number, work: () => void): SendFailure | null {
		this.bytes += bytes;
		if (this.bytes > HANDSHAKES.bytes) return this.#charge(HANDSHAKES.longChainMs);
		const { readCpuMs, clock } = this.#table.options;
		this.#began = { cpuMs: readCpuMs(), at: clock.elapsed() };
		work();
		return this.#count();
	}

	/** It has succeeded; may be called while it processes bytes. @returns why the attempt fails nevertheless, or null */
	succeeded(): SendFailure | null {
		const failure = this.#count();
		this.#end(this.isMetered && !this.isCostly ? "cheap" : null);
		return failure;
	}

	/** The receiver floods the connection, during or after the handshake. That counts as a costly handshake. */
	flooded(): void {
		this.#table.charge(this, HANDSHAKES.floodMs);
	}

	/** It was refused or broke off. */
	failed(): void {
		this.#end("failed");
	}

	/** It is not needed any more, or there is no connection. */
	cancel(): void {
		this.#end(null);
	}

	#count(): SendFailure | null {
		if (this.#began === null) return null;
		const { readCpuMs, clock } = this.#table.options;
		const { cpuMs, at } = this.#began;
		this.#began = null;
		// The system counts CPU time in steps of up to 10 ms. Elapsed time is exact, but includes other processes.
		this.cpuMs += Math.min(readCpuMs() - cpuMs, clock.elapsed() - at);
		if (this.cpuMs <= HANDSHAKES.cpuMs) return null;
		const more = this.cpuMs - this.#chargedMs;
		this.#chargedMs = this.cpuMs;
		return this.#charge(more);
	}

	#charge(cpuMs: number): SendFailure | null {
		this.failure = this.#table.charge(this, cpuMs);
		return this.failure;
	}

	#end(proof: Proof): void {
		if (this.isOver) return;
		this.isOver = true;
		this.#table.ended(this, proof);
	}
}

/** Handshakes of one project, and what it pays for costly ones. Times are those of the monotonic clock. */
class ProjectHandshakes {
	readonly id: string;
	readonly waiting = { proven: new Set<Handshake>(), unproven: new Set<Handshake>() };
	readonly running = new Bag<Handshake>();
	runningUnproven = 0;
	runningUnmetered = 0;
	restUntil = 0;
	meteredUntil = 0;
	timer: Timer | null = null;

	constructor(id: string) {
		this.id = id;
	}

	get isEmpty(): boolean {
		return this.running.size + this.waiting.proven.size + this.waiting.unproven.size === 0;
	}

	queueOf({ isProven }: Handshake): Set<Handshake> {
		return isProven ? this.waiting.proven : this.waiting.unproven;
	}

	run(handshake: Handshake): void {
		this.queueOf(handshake).delete(handshake);
		this.running.add(handshake);
		if (!handshake.isProven) this.runningUnproven++;
		if (!handshake.isMetered) this.runningUnmetered++;
	}

	/** @returns whether it was running */
	remove(handshake: Handshake): boolean {
		this.queueOf(handshake).delete(handshake);
		if (!this.running.delete(handshake)) return false;
		if (!handshake.isProven) this.runningUnproven--;
		if (!handshake.isMetered) this.runningUnmetered--;
		return true;
	}

	charge(cpuMs: number, now: number): void {
		const after = (until: number, factor: number): number =>
			Math.min(Math.max(until, now) + factor * cpuMs, now + HANDSHAKES.longestMs);
		this.restUntil = after(this.restUntil, HANDSHAKES.restFactor);
		this.meteredUntil = after(this.meteredUntil, HANDSHAKES.meteredFactor);
	}
}

export interface HandshakeUser {
	/** It may connect now. */
	admitted(): void;
	/** It must give up the connection, and will be admitted again. */
	stopped(): void;
}

/** What a handshake that has ended says about its host: null if nothing. */
export type Proof = "cheap" | "failed" | null;

export interface HandshakesOptions {
	readonly clock: Clock;
	/** CPU time of this thread, milliseconds. */
	readonly readCpuMs: () => number;
	/** A number from 0 up to 1; decides which handshakes are metered. */
	random(): number;
	onCostly?(handshake: CostlyHandshake): void;
}

export interface CostlyHandshake {
	readonly projectId: string;
	/** `name:port` */
	readonly host: string;
	/** CPU time that is charged for it. */
	readonly cpuMs: number;
	readonly bytes: number;
}

/** CPU time of the calling thread, milliseconds. */
export function threadCpuMs(): number {
	const { user, system } = process.threadCpuUsage();
	return (user + system) / 1_000;
}
