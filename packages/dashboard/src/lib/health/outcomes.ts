import { plural } from "../text/numbers.ts";

/** Attempts by outcome. */
export interface Outcomes {
	readonly delivered: number;
	readonly retrying: number;
	readonly failed: number;
}

export const sumOutcomes = (all: readonly Outcomes[]): Outcomes => ({
	delivered: all.reduce((sum, { delivered }) => sum + delivered, 0),
	retrying: all.reduce((sum, { retrying }) => sum + retrying, 0),
	failed: all.reduce((sum, { failed }) => sum + failed, 0),
});

export const totalOf = ({ delivered, retrying, failed }: Outcomes) => delivered + retrying + failed;

/** Each outcome's count in words: `312 attempts delivered, 1 attempt failed for good`, without zeros. */
export function outcomesInWords(outcomes: Outcomes): string {
	const { delivered, retrying, failed } = outcomes;
	if (totalOf(outcomes) === 0) return "no attempts";
	return [
		delivered > 0 ? `${plural(delivered, "attempt")} delivered` : "",
		retrying > 0 ? `${plural(retrying, "attempt")} followed by a retry` : "",
		failed > 0 ? `${plural(failed, "attempt")} failed for good` : "",
	]
		.filter((part) => part !== "")
		.join(", ");
}
