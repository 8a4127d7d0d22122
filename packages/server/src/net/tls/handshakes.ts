import { HANDSHAKES } from "../../base/budgets.ts";
import { BoundedMap } from "../../base/collections.ts";
import { Turns } from "../../base/turns.ts";
import { SendFailure } from "../errors.ts";
import {
	Handshake,
	type HandshakeMeter,
	type HandshakeTable,
	type HandshakeUser,
	ProjectHandshakes,
	type Proof,
} from "./handshake.ts";

/**
 * Keeps receivers from using up the main thread with TLS handshakes. OpenSSL checks a receiver's certificates in one
 * step, which nothing can interrupt, and a long chain of large keys takes a noticeable part of a second.
 *
 * A *metered* handshake is one whose CPU time and bytes are counted (handshake.ts). Such connections are slower, so
 * only these are metered: those with hosts that haven't proven cheap yet, a random part of the others, because a receiver
 * may change its certificates at any time, and any beyond a few at a time.
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
export class Handshakes implements HandshakeTable {
	/** Shares the main thread among the projects whose metered handshakes have bytes to process. */
	readonly turns: Turns;
	readonly #options: HandshakesOptions;
	/** Number of a host's latest metered handshakes that were costly; 0 if it has proven cheap. */
	readonly #hosts = new BoundedMap<string, number>(HANDSHAKES.hosts);
	readonly #projects = new BoundedMap<string, ProjectHandshakes>(HANDSHAKES.projects);
	#costly = 0;

	constructor(options: HandshakesOptions) {
		this.#options = options;
		this.turns = new Turns(HANDSHAKES.msPerTurn, options.clock);
	}

	/** Number of costly handshakes so far. */
	get costly(): number {
		return this.#costly;
	}

	/** Requests a handshake with a host, given as `name:port`. Calls `user.admitted`, possibly before it returns. */
	request(projectId: string, host: string, user: HandshakeUser): Handshake {
		const handshake = new Handshake(this, this.#options, this.#projectOf(projectId), host, user);
		this.#enqueue(handshake);
		return handshake;
	}

	charge(handshake: Handshake, cpuMs: number): SendFailure | null {
		const { host, bytes } = handshake;
		// Its own record may be gone, if the handshake has ended and the receiver floods the connection.
		const project = this.#projectOf(handshake.project.id);
		project.charge(cpuMs, this.#options.clock.elapsed());
		if (!handshake.isCostly) {
			handshake.isCostly = true;
			this.#costly++;
			this.#hosts.set(host, (this.#hosts.get(host) ?? 0) + 1);
			this.#options.onCostly?.({ projectId: project.id, host, cpuMs: Math.round(cpuMs), bytes });
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
		const queue = project.queueOf(handshake);
		if (queue.size === 0 && this.#mayRun(handshake)) {
			this.#admit(handshake);
		} else {
			queue.add(handshake);
			this.#setTimer(project);
		}
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
		project.timer = isResting ? this.#options.clock.setTimeout(() => this.#admitNext(project), restMs) : null;
	}

	#admit(handshake: Handshake): void {
		const { project, isProven } = handshake;
		handshake.isMetered =
			!isProven ||
			this.#isPaying(project) ||
			project.runningUnmetered >= HANDSHAKES.unmetered ||
			this.#options.random() < HANDSHAKES.meteredShare;
		project.run(handshake);
		handshake.user.admitted();
	}

	#isProven({ host }: Handshake): boolean {
		return this.#hosts.get(host) === 0;
	}

	/** Whether all of its handshakes are metered. */
	#isPaying(project: ProjectHandshakes): boolean {
		return project.meteredUntil > this.#options.clock.elapsed();
	}

	/** How long hosts of this kind must wait because of earlier costly handshakes, milliseconds; at most 0 if not. */
	#restMs(project: ProjectHandshakes, isProven: boolean): number {
		return project.restUntil - this.#options.clock.elapsed() - (isProven ? HANDSHAKES.provenRestMs : 0);
	}
}

export interface HandshakesOptions extends HandshakeMeter {
	/** A number from 0 up to 1; decides which handshakes are metered. */
	random(): number;
	/** Called once for each costly handshake. */
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
