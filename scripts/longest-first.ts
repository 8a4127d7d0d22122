import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Parts of the paths of slow test files, slowest first: they start processes, or run a suite from other files, so their
 * size doesn't show how long they take. Started last, they would leave the other workers idle.
 */
const LONG = [
	"e2e/crash.",
	"e2e/database/faults.",
	"simulation/runner/bite.",
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

/**
 * Starts slow files before all others, and those that share a process after those that don't: a process and the modules
 * that it has loaded are kept only if the next file shares it, too.
 */
export class LongestFirst extends BaseSequencer {
	override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
		const sorted = await super.sort(files);
		return sorted.toSorted((a, b) => Number(shares(a)) - Number(shares(b)) || rankOf(a) - rankOf(b));
	}
}

const shares = ({ project }: TestSpecification): boolean => !project.config.isolate;

function rankOf({ moduleId }: TestSpecification): number {
	const rank = LONG.findIndex((part) => moduleId.includes(part));
	return rank < 0 ? LONG.length : rank;
}
