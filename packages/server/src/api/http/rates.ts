import { RATES, type RateName } from "../../base/budgets.ts";

/** What a rate counts, and whose; nothing more for one that applies to a principal. */
const COUNTED: Record<RateName, readonly [what: string, whose?: string]> = {
	changes: ["changes", "in this project"],
	facts: ["store facts", "of this project"],
	testEvents: ["test events", "of this project"],
	urlChecks: ["URL checks", "of this project"],
	replays: ["replays", "of this project"],
	bulkReplays: ["replays by filter", "of this project"],
	reads: ["requests for lists and statistics"],
	lookups: ["lookups"],
};

/** Rates that apply to a principal, not to a project. */
export const OF_PRINCIPALS: ReadonlySet<RateName> = new Set(["reads", "lookups"]);

/** Why a request over its owner's rate is refused; also its description in the OpenAPI document. */
export function tooMany(name: RateName): string {
	const { burst, perMinute } = RATES[name];
	const large = name === "reads" ? ", large responses counting as several" : "";
	const n = (count: number) => count.toLocaleString("en-US");
	return `Too many ${COUNTED[name].join(" ")}: up to ${n(burst)} at once and ${n(perMinute)} per minute${large}.`;
}

/** Why a request over the node's rate is refused. */
export function tooManyOnNode(name: RateName): string {
	return `This node is receiving too many ${COUNTED[name][0]}.`;
}
