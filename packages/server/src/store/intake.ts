import type { Busy } from "./result.ts";

/** What may be on its way to storage on a node; beyond, those who report are told to come again. */
export interface IntakeLimits {
	readonly facts: number;
	/** About: of each fact the text that its events are made of. */
	readonly bytes: number;
}

/** Some seconds' work for a database, and as many bytes as may wait to be published. */
export const INTAKE_LIMITS: IntakeLimits = { facts: 10_000, bytes: 64 * 1024 * 1024 };
/** What a fact takes besides its text, bytes. */
const FACT_BYTES = 500;
/** When to come again, seconds. */
const RETRY_AFTER_S = 1;

/** Lets facts on to storage, as many at a time as a node can bear. */
export class Intake {
	readonly #limits: IntakeLimits;
	#facts = 0;
	#bytes = 0;

	constructor(limits: IntakeLimits) {
		this.#limits = limits;
	}

	/**
	 * Does what has these facts stored, unless too much is on its way already. One call may bring more than is left: it is
	 * bounded by itself.
	 */
	async admit<T>(facts: number, textBytes: number, store: () => Promise<T>): Promise<T | Busy> {
		if (this.#facts >= this.#limits.facts || this.#bytes >= this.#limits.bytes)
			return { kind: "busy", retryAfter: RETRY_AFTER_S };
		const bytes = textBytes + facts * FACT_BYTES;
		this.#facts += facts;
		this.#bytes += bytes;
		try {
			return await store();
		} finally {
			this.#facts -= facts;
			this.#bytes -= bytes;
		}
	}
}
