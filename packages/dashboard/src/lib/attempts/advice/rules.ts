import { INTERMEDIARIES } from "./intermediaries.ts";
import { RECEIVERS } from "./receivers.ts";
import { REFUSALS } from "./refusals.ts";
import type { AdviceRule } from "./rule.ts";

/** The first rule that fits counts. */
export const ADVICE_RULES: readonly AdviceRule[] = [...REFUSALS, ...INTERMEDIARIES, ...RECEIVERS];
