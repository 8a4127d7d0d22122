import { createRandom, seedFrom } from "./random.ts";

/** How a receiver treats one request. */
export type Treatment =
	| { readonly kind: "answer"; readonly status: number; readonly afterMs: number }
	/** The connection is reset after the request was read, without a response. */
	| { readonly kind: "reset" };

/** Chooses a treatment by the event's content and how often it has been received, counted from 1. */
export type Manner = (content: string, reception: number) => Treatment;

export const AT_ONCE = { kind: "answer", status: 200, afterMs: 0 } as const;

/** Accepts everything immediately. */
export const sound: Manner = () => AT_ONCE;

/**
 * Refuses a quarter of the requests, resets some connections, and is sometimes slow, occasionally slower than
 * `attemptTimeout` (seconds) allows. With the same seed, the same request is treated the same way.
 */
export function troubled(seed: number, attemptTimeout: number): Manner {
	return (content, reception) => {
		const random = createRandom(seedFrom(`${seed} ${reception} ${content}`));
		const roll = random.next();
		if (roll < 0.13) return { kind: "answer", status: 500, afterMs: 0 };
		if (roll < 0.25) return { kind: "answer", status: 503, afterMs: 0 };
		if (roll < 0.31) return { kind: "reset" };
		if (roll < 0.39) return { ...AT_ONCE, afterMs: random.between(400, 1_800) };
		if (roll < 0.41) return { ...AT_ONCE, afterMs: (attemptTimeout + 1) * 1_000 };
		return AT_ONCE;
	};
}
