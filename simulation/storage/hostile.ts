/**
 * A node's way to its database: each call takes its time to get there and to come back, and may fail or stand still on
 * either way. What the call does in the database it does in between, all at once.
 */
import type { EpochKeeper, HintListener, PeerStorage } from "../../packages/server/src/storage/port.ts";
import { type Storage, StorageError } from "../../packages/server/src/storage/port.ts";
import type { News } from "../happenings.ts";
import type { Host } from "../nodes/host.ts";
import type { Random } from "../random.ts";
import type { Timeline } from "../time.ts";
import { observe } from "./observe.ts";

/** What goes wrong with calls, while it lasts. */
export type StorageFault =
	/** The call fails before the database receives it, or after its effect. */
	| "fails before"
	| "fails after"
	/** The call or its response is delayed until the fault ends, or fails then. */
	| "stalls"
	/** Calls take seconds. */
	| "slow";

/** A fault that lasts. */
interface Active {
	readonly fault: StorageFault;
	readonly probability: number;
	/** Null: every method. */
	readonly method: string | null;
	readonly until: number;
}

export interface HostileOptions {
	readonly timeline: Timeline;
	readonly host: Host;
	readonly random: Random;
	/** When hints come draws from a stream of its own: on a real database they come at any time. */
	readonly hints: Random;
	/** How long a call takes each way at most, while nothing is wrong, milliseconds. */
	readonly latencyMs: number;
	/** Has time stand still while a call to a real database lasts. */
	readonly hold: <T>(call: Promise<T>) => Promise<T>;
	readonly hasHints: boolean;
	/** How often the database continued from an earlier state. */
	readonly restores: () => number;
	readonly tell: (news: News) => void;
}

/** Calls that don't cross the network. */
const LOCAL = new Set(["close"]);
const LOST = "The connection to the database was lost.";

export class HostileStorage {
	readonly #options: HostileOptions;
	readonly #storage: Storage;
	/** As the node's engine sees it. */
	readonly seen: Storage;
	#faults: Active[] = [];
	/** How often the node has cut its connections, as it does when it meets another history. */
	#cuts = 0;

	constructor(storage: Storage, options: HostileOptions) {
		this.#storage = storage;
		this.#options = options;
		this.seen = this.#behind();
	}

	/** From now on, for `ms`, calls go wrong with this probability. @returns a function that ends it */
	begin(fault: StorageFault, ms: number, probability: number, method: string | null): () => void {
		const active: Active = { fault, probability, method, until: this.#options.timeline.now() + ms };
		this.#faults.push(active);
		return () => {
			this.#faults = this.#faults.filter((one) => one !== active);
		};
	}

	#behind(): Storage {
		let peers: PeerStorage | null | undefined;
		return new Proxy({} as Storage, {
			get: (_, key) => {
				const value: unknown = Reflect.get(this.#storage, key, this.#storage);
				if (key === "peers") {
					peers ??= value === null ? null : this.#peers(value as PeerStorage);
					return peers;
				}
				if (typeof value !== "function") return value;
				if (LOCAL.has(key as string)) return value.bind(this.#storage);
				return (...args: unknown[]) => this.#call(key as string, args, () => value.apply(this.#storage, args));
			},
		});
	}

	#peers(peers: PeerStorage): PeerStorage {
		const { timeline, host, hints, tell } = this.#options;
		return new Proxy(peers, {
			get: (_, key) => {
				if (key === "subscribe")
					return (listener: HintListener) =>
						peers.subscribe((...hint) => {
							if (!this.#options.hasHints || this.#faultOf("subscribe", hints) !== null) return;
							timeline.after(hints.between(0, 20), () => host.run(() => listener(...hint)));
						});
				if (key === "onEpoch")
					return (listener: () => void, keeper?: EpochKeeper) =>
						peers.onEpoch(
							() => {
								this.#cuts += 1;
								if (!host.isDead) listener();
							},
							keeper && {
								claims: () => (host.isDead ? [] : keeper.claims()),
								begun: (kept, opensInMs) => {
									for (const lease of kept) tell({ kind: "kept", node: host.name, lease });
									if (!host.isDead) keeper.begun(kept, opensInMs);
								},
							},
						);
				const value: unknown = Reflect.get(peers, key, peers);
				if (typeof value !== "function") return value;
				return (...args: unknown[]) => this.#call(key as string, args, () => value.apply(peers, args));
			},
		});
	}

	#call(method: string, args: readonly unknown[], run: () => Promise<unknown>): Promise<unknown> {
		const { timeline, host, random, restores, hold, tell } = this.#options;
		const { promise, resolve, reject } = Promise.withResolvers<unknown>();
		const fault = this.#faultOf(method);
		const way = this.#wayOf(fault);
		const epoch = restores();
		const answer = (settle: () => void): void => {
			timeline.after(way.backMs, () => host.run(settle));
		};
		const lost = (): void => reject(new StorageError("lost", LOST));
		const reachDatabase = (): void => {
			// It left the node before the node died. After a failover it has no database to reach.
			if (host.isDead && (epoch !== restores() || random.chance(0.3))) return;
			if (host.isFrozen && epoch !== restores()) host.run(reachDatabase);
			else if (way.isLost) answer(lost);
			else {
				const cuts = this.#cuts;
				hold(run()).then(
					(result) => {
						observe(host.name, [method, args, result], tell);
						answer(() => (way.isAnswerLost || cuts !== this.#cuts ? lost() : resolve(result)));
					},
					(error: unknown) => answer(() => reject(error)),
				);
			}
		};
		timeline.after(way.thereMs, reachDatabase);
		return promise;
	}

	/** How long a call takes to get there and back, and what of it gets lost. */
	#wayOf(active: Active | null) {
		const { timeline, random, latencyMs } = this.#options;
		const way = {
			thereMs: random.between(0, latencyMs),
			backMs: random.between(0, latencyMs),
			isLost: active?.fault === "fails before",
			isAnswerLost: active?.fault === "fails after",
		};
		if (active?.fault === "slow") way.thereMs += random.between(100, 8_000);
		if (active?.fault !== "stalls") return way;
		const leftMs = active.until - timeline.now();
		const isCall = random.chance(0.5);
		if (isCall) way.thereMs += leftMs;
		else way.backMs += leftMs;
		if (random.chance(0.5)) way[isCall ? "isLost" : "isAnswerLost"] = true;
		return way;
	}

	#faultOf(method: string, random = this.#options.random): Active | null {
		if (this.#faults.length === 0) return null;
		const { timeline } = this.#options;
		this.#faults = this.#faults.filter(({ until }) => until > timeline.now());
		for (const active of this.#faults)
			if ((active.method === null || active.method === method) && random.chance(active.probability)) return active;
		return null;
	}
}
