import { CommandError, UsageError } from "../command-error.ts";

/** Whether a question on standard error is seen, and answered. */
export const canAsk = (): boolean => process.stdin.isTTY && process.stderr.isTTY;

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
	const { default: ask } = await import("@inquirer/confirm");
	if (!(await ask({ message, default: false }, { output: process.stderr })))
		throw new CommandError([`Nothing was ${done}.`], 1);
}
