import { CommandError, UsageError } from "../command-error.ts";
import { ask, canAsk } from "./ask.ts";

/**
 * Asks at the terminal, on standard error, unless the answer was given as `--yes`; no is the default.
 *
 * @param done completes "Nothing was …" if the answer is no
 * @throws UsageError without a terminal, where only `--yes` can say so
 * @throws CommandError if the answer is no
 */
export async function confirm(message: string, yes = false, done = "changed"): Promise<void> {
	if (yes) return;
	if (!canAsk()) throw new UsageError([message, "There is no terminal to ask at: add --yes to confirm."]);
	const { default: prompt } = await import("@inquirer/confirm");
	if (!(await ask((context) => prompt({ message, default: false }, context))))
		throw new CommandError([`Nothing was ${done}.`], 1);
}
