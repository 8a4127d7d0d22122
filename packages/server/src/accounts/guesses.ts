import { BoundedMap } from "../base/bounded-map.ts";
import { STRANGERS } from "../base/budgets.ts";
import type { Clock } from "../base/clock.ts";
import { FairQueue } from "../base/fair-queue.ts";
import { Throttle } from "../base/throttle.ts";

const MINUTE_MS = 60_000;

/** Asks storage whose token has this hash, in base64; null where it is no one's. */
export type Ask = <T>(hash: string, find: () => Promise<T | null>) => Promise<T | null>;

/** Asks at once: for whoever is known by other means. */
export const askAtOnce: Ask = (_hash, find) => find();

/** Too many wrong tokens came from a network. */
export class TooManyGuesses extends Error {
	/** Seconds to wait. */
	readonly wait: number;

	constructor(wait: number) {
		super("Too many wrong tokens came from this network.");
		this.wait = wait;
	}
}

/**
 * Keeps wrong tokens cheap: API keys and sessions that are looked up in storage, and turn out to be no one's. Tokens that
 * were right before are looked up at once, wherever they come from. All others take turns by network, one at a time; and
 * few of a network that has sent many wrong ones may wait, so that a right token from there still has its turn.
 */
export class Guesses {
	readonly #wrong: Throttle;
	/** The hashes of tokens that were right when they were last looked up. Storage is asked again each time. */
	readonly #known = new BoundedMap<string, true>(STRANGERS.knownTokens);
	readonly #lookups = new FairQueue({
		perOwner: 1,
		running: STRANGERS.lookups,
		waiting: STRANGERS.lookupsWaiting,
	});

	constructor(clock: Pick<Clock, "now">) {
		this.#wrong = new Throttle(clock, STRANGERS.wrongTokensPerMinute, MINUTE_MS);
	}

	/** How tokens from this network are looked up. Rejects with TooManyGuesses without asking when too many wait. */
	from(network: string): Ask {
		return async (hash, find) => {
			const found = await (this.#known.has(hash) ? find() : this.#inTurn(network, find));
			if (found === null) this.#known.delete(hash);
			else this.#known.set(hash, true);
			return found;
		};
	}

	/** Counts a wrong token. Throws TooManyGuesses when there were too many before it. */
	wrong(network: string): void {
		const wait = this.#wrong.wait(network);
		this.#wrong.failed(network);
		if (wait !== null) throw new TooManyGuesses(wait);
	}

	async #inTurn<T>(network: string, find: () => Promise<T | null>): Promise<T | null> {
		const wait = this.#wrong.wait(network);
		const { lookupsWaiting, lookupsWaitingThen } = STRANGERS;
		const lookup = this.#lookups.run(network, find, wait === null ? lookupsWaiting : lookupsWaitingThen);
		if (lookup === null) throw new TooManyGuesses(wait ?? 1);
		return lookup;
	}
}
