import { hash, randomBytes } from "node:crypto";
import { UNAUTHENTICATED } from "../base/budgets.ts";
import type { Clock } from "../base/clock.ts";
import { BoundedMap } from "../base/collections.ts";
import { Throttle } from "../base/throttle.ts";
import { FairQueue } from "../base/turns.ts";

/** 256 bits, so a plain hash is enough: such a key can't be guessed. */
const KEY_BYTES = 32;
const KEY_CHARACTERS = 43;
const RANDOM_CHARACTERS = /^[\w-]*$/;

/** A new key: the prefix and 43 random characters of base64url. */
export function createKey(prefix: string): string {
	return prefix + randomBytes(KEY_BYTES).toString("base64url");
}

/** Whether {@link createKey} could have made it; otherwise it is invalid, and needs no lookup. */
export function isKey(prefix: string, key: string | Uint8Array): boolean {
	if (key.length !== prefix.length + KEY_CHARACTERS) return false;
	const text = typeof key === "string" ? key : Buffer.from(key).toString("latin1");
	return text.startsWith(prefix) && RANDOM_CHARACTERS.test(text.slice(prefix.length));
}

/** SHA-256 of the key's bytes, the only part that is stored. */
export function keyHash(key: string | Uint8Array): Buffer {
	return hash("sha256", key, "buffer");
}

const MINUTE_MS = 60_000;

/** Looks up in storage whose token has this hash, in base64; null if no one's. */
export type Ask = <T>(hash: string, find: () => Promise<T | null>) => Promise<T | null>;

/** Looks it up immediately, for callers that are already known. */
export const askImmediately: Ask = (_hash, find) => find();

/** A network has sent too many wrong tokens. */
export class TooManyGuesses extends Error {
	/** Seconds to wait. */
	readonly wait: number;

	constructor(wait: number) {
		super("Too many wrong tokens came from this network.");
		this.wait = wait;
	}
}

/**
 * Bounds the cost of wrong tokens: API keys and sessions that storage doesn't know.
 *
 * - Tokens that were valid before are looked up immediately, from any network. While one is looked up, all other
 *   requests with it share its next lookup: a thousand must not queue a thousand lookups before others'.
 * - All others take turns by network, one at a time. Only a few may wait from a network that has sent many wrong ones,
 *   so that a valid token from there still gets its turn.
 */
export class Guesses {
	readonly #wrong: Throttle;
	/** The hashes of tokens that were valid at their last lookup. Storage is still queried each time. */
	readonly #known = new BoundedMap<string, true>(UNAUTHENTICATED.knownTokens);
	/** By the hash of a known token: the lookup that is running, and the next one, for all who have asked since. */
	readonly #ofKnown = new Map<string, { readonly running: Promise<unknown>; next: Promise<unknown> | null }>();
	readonly #lookups = new FairQueue({
		perOwner: 1,
		running: UNAUTHENTICATED.lookups,
		waiting: UNAUTHENTICATED.lookupsWaiting,
	});

	constructor(clock: Pick<Clock, "elapsed">) {
		this.#wrong = new Throttle(clock, UNAUTHENTICATED.wrongTokensPerMinute, MINUTE_MS);
	}

	/** How to look up tokens from this network. Rejects with TooManyGuesses, without a lookup, if too many wait. */
	from(network: string): Ask {
		return async (hash, find) => {
			const found = await (this.#known.has(hash) ? this.#shared(hash, find) : this.#inTurn(network, find));
			if (found === null) this.#known.delete(hash);
			else this.#known.set(hash, true);
			return found;
		};
	}

	/** Counts a wrong token. Throws TooManyGuesses if there were too many before. */
	wrong(network: string): void {
		const wait = this.#wrong.wait(network);
		this.#wrong.failed(network);
		if (wait !== null) throw new TooManyGuesses(wait);
	}

	#shared<T>(hash: string, find: () => Promise<T>): Promise<T> {
		const start = (): Promise<T> => this.#start(hash, find);
		const there = this.#ofKnown.get(hash);
		if (there === undefined) return start();
		there.next ??= there.running.then(start, start);
		return there.next as Promise<T>;
	}

	#start<T>(hash: string, find: () => Promise<T>): Promise<T> {
		const running = find();
		const lookups = { running, next: null };
		this.#ofKnown.set(hash, lookups);
		const end = (): void => {
			if (lookups.next === null) this.#ofKnown.delete(hash);
		};
		running.then(end, end);
		return running;
	}

	async #inTurn<T>(network: string, find: () => Promise<T | null>): Promise<T | null> {
		const wait = this.#wrong.wait(network);
		const { lookupsWaiting, lookupsWaitingThen } = UNAUTHENTICATED;
		const lookup = this.#lookups.run(network, find, wait === null ? lookupsWaiting : lookupsWaitingThen);
		if (lookup === null) throw new TooManyGuesses(wait ?? 1);
		return lookup;
	}
}
