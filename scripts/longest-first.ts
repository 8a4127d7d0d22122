import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Parts of the paths of test files that run for long, the longest first: they start processes, or run a suite from other
 * files, so their own size says nothing of it. Started last, they would leave the other workers without work.
 */
const LONG = [
	"e2e/crash.",
	"e2e/database-faults.",
	"simulation/simulation.",
	"server/test/engine-",
	"sqlite/sqlite.",
	"cli/test/",
	"server/test/failover.",
	"e2e/",
	"bench/",
	"examples/",
	"server/test/",
	"postgres/postgres",
	"postgres/",
];

/** Has files that run for long begin before all others. */
export class LongestFirst extends BaseSequencer {
	override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
		const sorted = await super.sort(files);
		return sorted.toSorted((a, b) => rankOf(a) - rankOf(b));
	}
}

function rankOf({ moduleId }: TestSpecification): number {
	const rank = LONG.findIndex((part) => moduleId.includes(part));
	return rank < 0 ? LONG.length : rank;
}
