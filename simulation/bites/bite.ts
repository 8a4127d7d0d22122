import type { Fault } from "../runner/fault.ts";

/** A deliberate fault, and the worlds that catch it soonest. */
export interface Bite extends Fault {
	readonly style: string;
	readonly firstSeed: number;
	/** Worlds at most, from the first seed on. */
	readonly worlds: number;
}
