/** All checks together. Observes everything that happens, and finds the first broken promise. */
import { isDeepStrictEqual } from "node:util";
import type { Storage } from "../../packages/server/src/storage/port.ts";
import type { Happening } from "../happenings.ts";
import type { About, Check, Witness, WorldFacts } from "./check.ts";
import { Ledger } from "./ledger.ts";
import { logged } from "./logged.ts";
import { keepEarly, LostFirsts, narrow } from "./lost.ts";
import { acknowledged } from "./promises/acknowledged.ts";
import { delays } from "./promises/delays.ts";
import { type Delivered, delivered } from "./promises/delivered.ts";
import { checkFigures, FIGURES } from "./promises/figures.ts";
import { inFlight } from "./promises/in-flight.ts";
import { order } from "./promises/order.ts";
import { queued } from "./promises/queued.ts";
import { Quiet, RECOVERY_MS } from "./promises/quiet.ts";
import { read } from "./promises/read.ts";
import { replays } from "./promises/replays.ts";
import { secrets } from "./promises/secrets.ts";
import { series } from "./promises/series.ts";
import { sound } from "./promises/sound.ts";
import { targets } from "./promises/targets.ts";
import { terms } from "./promises/terms.ts";
import { type Patience, waiting } from "./promises/waiting.ts";
import { Wire } from "./wire.ts";

/** A promise that was broken, and how. */
export interface Breach extends About {
	readonly promise: string;
	readonly message: string;
	/** True time, milliseconds from the world's beginning. */
	readonly at: number;
}

export interface OracleOptions {
	readonly facts: WorldFacts;
	readonly patience: Patience;
	now(): number;
	nodeNow(node: string): number;
	disagreementMs(): number;
}

export class Oracle {
	breach: Breach | null = null;
	readonly #options: OracleOptions;
	readonly #checks: Check[];
	readonly #witness: Witness;
	readonly #waiting: ReturnType<typeof waiting>;
	readonly #delivered: Delivered;
	#ledger = new Ledger();
	readonly wire: Wire;
	/** What the ledger was built from. */
	#done: Happening[] = [];
	#restoredAt = Number.NEGATIVE_INFINITY;
	readonly #lostFirsts = new LostFirsts();
	readonly #quiet = new Quiet();
	/** By project and node, when it was last given the lease, or left it in another epoch; true time. */
	readonly #heldSince = new Map<string, number>();
	#promise = "";

	constructor(options: OracleOptions) {
		this.#options = options;
		this.wire = new Wire(() => this.#ledger, options.facts.brand);
		const oracle = this;
		const witness: Witness = {
			get ledger() {
				return oracle.#ledger;
			},
			wire: this.wire,
			facts: options.facts,
			now: options.now,
			nodeNow: options.nodeNow,
			disagreementMs: options.disagreementMs,
			quiet: this.#quiet,
			isInForce: ({ changedAt }) => Math.max(this.#quiet.since, changedAt + RECOVERY_MS) <= options.now(),
			isUnsettled: (projectId, node) => this.#isUnsettled(projectId, node),
			isForgotten: (webhook, seq, node) =>
				this.#lostFirsts.has(webhook, seq) && this.#isUnsettled(webhook.projectId, node),
			restoredAt: () => this.#restoredAt,
			broken: (about, message) => this.broken(this.#promise, about, message),
		};
		this.#witness = witness;
		this.#waiting = waiting(witness, options.patience);
		this.#delivered = delivered(witness);
		this.#checks = [
			...[sound, acknowledged, terms, series, replays, targets, secrets, delays, order, inFlight, queued, read].map(
				(make) => make(witness),
			),
			...[this.#waiting, logged(witness), this.#delivered],
		];
	}

	get ledger(): Ledger {
		return this.#ledger;
	}

	/** Everything that it checks. */
	get promises(): string[] {
		return [...this.#checks.map(({ promise }) => promise), REPEATED, FIGURES];
	}

	/** The longest wait so far, milliseconds. */
	get longestWaitMs(): number {
		return this.#waiting.longestMs;
	}

	/** A mark of the current state, to be named when the database goes back to it. */
	get mark(): number {
		return this.#done.length;
	}

	hear(happening: Happening): void {
		this.#quiet.on(happening);
		if (this.breach !== null || this.#isRepeated(happening)) return;
		if (happening.kind === "leased" || happening.kind === "kept")
			this.#heldSince.set(`${happening.lease.projectId}/${happening.node}`, happening.at);
		for (const check of this.#checks) {
			this.#promise = check.promise;
			check.on?.(happening);
		}
		if (happening.kind === "restored") this.#restore(happening);
		else if (LEDGER.has(happening.kind)) {
			this.#done.push(happening);
			this.#ledger.apply(happening);
		}
		this.wire.apply(happening);
	}

	/** Some time has passed. */
	look(): void {
		for (const check of this.#checks) {
			if (this.breach !== null) return;
			this.#promise = check.promise;
			check.look?.();
		}
	}

	/** Whether every delivery has ended that may. */
	get isAtRest(): boolean {
		for (const _ of this.#delivered.pending()) return false;
		return true;
	}

	/** The number of deliveries that must still be attempted or closed. */
	get pending(): number {
		let pending = 0;
		for (const _ of this.#delivered.pending()) pending += 1;
		return pending;
	}

	/** The world should have come to rest by now. @param calls people's calls without a response */
	late(afterMs: number, calls: number): void {
		this.#promise = this.#delivered.promise;
		this.#delivered.late(afterMs, calls);
	}

	/** The world has come to rest. */
	end(): void {
		for (const check of this.#checks) {
			if (this.breach !== null) return;
			this.#promise = check.promise;
			check.end?.();
		}
	}

	/** Reads what the service shows people. @param now by the clock of a node that is up */
	async recount(storage: Storage, now: number): Promise<void> {
		this.#promise = FIGURES;
		await checkFigures(this.#witness, storage, now);
	}

	/** Only the first one counts: others may follow from it. */
	broken(promise: string, about: About, message: string): void {
		this.breach ??= { promise, ...about, message, at: this.#options.now() };
	}

	/** A settle that is repeated because its first response was lost: it says the same, and changes nothing. */
	#isRepeated(happening: Happening): boolean {
		if (happening.kind !== "settled") return false;
		const { attempts } = happening.settlement;
		const known = attempts.map(({ id }) => this.#ledger.attempts.get(id));
		if (known.length === 0 || known.includes(undefined)) return false;
		if (!isDeepStrictEqual(known, attempts))
			this.broken(REPEATED, { projectId: happening.settlement.projectId }, "it was repeated with other content");
		return true;
	}

	#restore(happening: Extract<Happening, { kind: "restored" }>): void {
		this.#restoredAt = happening.at;
		this.#done = [...this.#done.slice(0, happening.since), happening];
		const before = this.#ledger;
		this.#ledger = new Ledger();
		for (const one of this.#done) this.#ledger.apply(one);
		this.#lostFirsts.restored(before, this.#ledger);
		narrow(before, this.#ledger, happening.at);
		keepEarly(before, this.#ledger);
	}

	#isUnsettled(projectId: string, node: string): boolean {
		const heldSince = this.#heldSince.get(`${projectId}/${node}`) ?? Number.NEGATIVE_INFINITY;
		const { now, facts } = this.#options;
		return now() - this.#restoredAt < facts.leaseTermMs && heldSince <= this.#restoredAt;
	}
}

const REPEATED = "repeating a settle changes nothing";

/** What the ledger is built from, again after a failover. */
const LEDGER: ReadonlySet<Happening["kind"]> = new Set<Happening["kind"]>([
	...(["project created", "appended", "webhook created", "webhook updated", "secret rotated"] as const),
	...([
		"webhook deleted",
		"app changed",
		"test queued",
		"replay begun",
		"replays begun",
		"retries made early",
		"settled",
		"answered",
	] as const),
	...(["settle refused", "leased", "renewed", "kept", "released", "handed over forgotten", "swept"] as const),
]);
