/** A deliberate fault of the server, and the tests that should notice it. */
export interface Mutation {
	/** Names it on the command line; unique. */
	readonly name: string;
	/** The file that is changed, below `packages`. */
	readonly file: string;
	/** Occurs exactly once in the file. */
	readonly find: string;
	readonly replace: string;
	/** Test files that should fail with it, below `packages`: the fastest that can. */
	readonly tests: readonly string[];
	/** Only tests whose full names match this regular expression are run, where the files have many others. */
	readonly only?: string;
	/** What it would break in production. */
	readonly why: string;
	/** The finding of a review of the tests that it repeats: what was changed, and no test noticed. */
	readonly review?: string;
	/** Why no test can notice it, for one that is known to survive. */
	readonly survives?: string;
}

type Change = Omit<Mutation, "file" | "tests"> & Partial<Pick<Mutation, "tests">>;

/** Mutations of one file that the same tests should catch, unless one names others. */
export function of(file: string, tests: readonly string[], changes: readonly Change[]): Mutation[] {
	return changes.map((change) => ({ file, tests, ...change }));
}
