/**
 * Finds the fewest steps of a failing plan that still break the same promise: delta debugging (Zeller and Hildebrandt,
 * "Simplifying and isolating failure-inducing input", 2002). Whole parts of the plan are left out, then smaller ones.
 */
import type { Plan, Step } from "../plan.ts";

/** Which promise a plan breaks, or null. */
export type Judge = (plan: Plan) => Promise<string | null>;

/** Called for each plan that was tried. */
export type OnTried = (tried: number, steps: number) => void;

/**
 * @param promise the one that the plan breaks
 * @param maxTries plans that are tried at most
 */
export async function shrink(
	plan: Plan,
	promise: string,
	judge: Judge,
	maxTries: number,
	onTried: OnTried,
): Promise<Plan> {
	let best = plan;
	let tried = 0;
	const isStillBroken = async (steps: readonly Step[]): Promise<boolean> => {
		tried += 1;
		const candidate = { ...plan, steps };
		if ((await judge(candidate)) !== promise) return false;
		best = candidate;
		return true;
	};
	for (let parts = 2; best.steps.length > 1 && tried < maxTries; ) {
		const { steps } = best;
		const size = Math.ceil(steps.length / parts);
		let isSmaller = false;
		// The last ones first: what comes after the failure never matters.
		for (let end = steps.length; end > 0 && tried < maxTries; end -= size) {
			const rest = [...steps.slice(0, Math.max(0, end - size)), ...steps.slice(end)];
			isSmaller = await isStillBroken(rest);
			onTried(tried, best.steps.length);
			if (isSmaller) break;
		}
		if (isSmaller) parts = Math.max(2, parts - 1);
		else if (size === 1) break;
		else parts = Math.min(steps.length, parts * 2);
	}
	return best;
}
