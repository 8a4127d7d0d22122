/** A deliberate fault of the product: a change of its source, for one process. */
export interface Fault {
	readonly name: string;
	/** Path from the repository's root. */
	readonly file: string;
	/** Occurs exactly once in it. */
	readonly find: string;
	readonly replace: string;
	/** What it breaks, in a sentence. */
	readonly breaks: string;
}

/** Names the fault that a process is to have: JSON of a {@link Fault}. */
export const FAULT_VARIABLE = "POSTHORN_SIMULATED_FAULT";
