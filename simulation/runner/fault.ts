/** A deliberate fault of the product: a change of its source, for some worlds. */
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
