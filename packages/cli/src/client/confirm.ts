import { UsageError } from "../command-error.ts";

/**
 * Asks at the terminal, on standard error; no is the default.
 *
 * @throws UsageError without a terminal, where only `--yes` can say so
 */
export async function confirmed(message: string): Promise<boolean> {
	if (!process.stdin.isTTY) throw new UsageError([message, "There is no terminal to ask at: add --yes if so."]);
	const { default: confirm } = await import("@inquirer/confirm");
	return confirm({ message, default: false }, { output: process.stderr });
}
