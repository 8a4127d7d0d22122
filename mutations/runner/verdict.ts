import type { Mutation } from "../mutation.ts";
import type { TestRun } from "./vitest.ts";

/** The result of a mutation: whether the tests noticed it. */
export interface Verdict {
	readonly area: string;
	readonly mutation: Mutation;
	readonly run: TestRun;
	/** False if the tests timed out and are slow without the mutation, too. */
	readonly isCaught: boolean;
}

/** The share of all mutations that has to be caught. */
export const ENOUGH = 0.9;

export const isEnough = (verdicts: readonly Verdict[]): boolean =>
	caughtOf(verdicts).length >= verdicts.length * ENOUGH;

export const caughtOf = (verdicts: readonly Verdict[]): readonly Verdict[] =>
	verdicts.filter(({ isCaught }) => isCaught);

/** One line for the terminal. */
export function lineOf({ mutation, run, isCaught }: Verdict, nth: number, of: number): string {
	return `[${nth}/${of}] ${mutation.name}: ${wordFor({ run, isCaught })} (${(run.ms / 1000).toFixed(1)} s)`;
}

function wordFor({ run, isCaught }: Pick<Verdict, "run" | "isCaught">): string {
	if (run.result === "late")
		return isCaught ? "caught, because its tests hung" : "UNDECIDED, because its tests are slow";
	return isCaught ? "caught" : "SURVIVED";
}

/**
 * The summary in Markdown: survivors first, then the tests that caught the others.
 *
 * @param total how many mutations there are
 * @param commit what was tried; null for uncommitted changes
 */
export function reportOf(verdicts: readonly Verdict[], total: number, commit: string | null): string {
	const survivors = verdicts.filter(({ isCaught }) => !isCaught);
	const caught = caughtOf(verdicts);
	return [
		"# Mutations",
		`${summaryOf(verdicts, total)}, at ${commit === null ? "no commit: something was changed" : `commit ${commit}`}.`,
		"## Survivors",
		...(survivors.length === 0 ? ["None."] : survivors.map(survivorOf)),
		"## Caught",
		...areasOf(caught).map(([area, those]) => `### ${area}\n\n${those.map(catchOf).join("\n")}`),
		"",
	].join("\n\n");
}

/** @param total how many mutations there are, tried or not */
export function summaryOf(verdicts: readonly Verdict[], total: number): string {
	const untried = total - verdicts.length;
	return `caught ${caughtOf(verdicts).length} of ${total}${untried > 0 ? ` (${untried} not tried)` : ""}`;
}

/** One line for each mutation that wasn't caught: what it would break, and why the tests don't notice it. */
export function survivorsOf(verdicts: readonly Verdict[]): string[] {
	return verdicts
		.filter(({ isCaught }) => !isCaught)
		.map(({ mutation: { name, why, survives }, run: { result } }) => {
			const explanation = survives === undefined ? "NOT EXPLAINED." : `Known: ${survives}`;
			return `${name}: ${why} ${result === "late" ? "UNDECIDED: its tests are slow without it, too." : explanation}`;
		});
}

function survivorOf({ area, mutation, run }: Verdict): string {
	const { name, file, find, replace, why, survives } = mutation;
	return [
		`### ${name} (${area})`,
		`${file}: ${why}`,
		`\`\`\`diff\n${prefixed("-", find)}\n${prefixed("+", replace)}\n\`\`\``,
		survives === undefined ? "Not explained." : `Known: ${survives}`,
		run.result === "late"
			? `Even without it, these take long: ${mutation.tests.join(", ")}`
			: `${run.ran.length} tests passed: ${mutation.tests.join(", ")}`,
	].join("\n\n");
}

const prefixed = (sign: string, text: string): string =>
	text
		.split("\n")
		.map((line) => `${sign} ${line}`)
		.join("\n");

const catchOf = ({ mutation, run }: Verdict): string =>
	`- ${mutation.name}: ${run.failed ?? "its tests did not run to their end"}${run.result === "late" ? " (hung)" : ""}`;

function areasOf(verdicts: readonly Verdict[]): [string, Verdict[]][] {
	return [...Map.groupBy(verdicts, ({ area }) => area)];
}
