import { CommanderError } from "commander";
import { cleanLines } from "./client/output.ts";
import { CommandError } from "./command-error.ts";
import { createProgram } from "./program.ts";
import { isUntrusted, UNTRUSTED_ADVICE } from "./untrusted.ts";

/** The names of the errors of questions that are left with Ctrl-C and Ctrl-D. */
const LEFT_QUESTION: ReadonlySet<string> = new Set(["ExitPromptError", "AbortPromptError"]);

/**
 * Runs the command line. Exit code 0 for success, 2 for wrong usage or configuration, 130 if a question is answered with
 * Ctrl-C or Ctrl-D, 1 for any other failure.
 */
export async function main(args: readonly string[]): Promise<void> {
	const program = createProgram();
	const { default: addCompletion } = await import("@bomb.sh/tab/commander");
	addCompletion(program);
	// The reader has closed the pipe, as head does.
	process.stdout.on("error", (error: NodeJS.ErrnoException) => {
		if (error.code === "EPIPE") process.exit(process.exitCode);
		console.error(`The output can't be written: ${error.message}.`);
		process.exit(1);
	});
	// A reader that is gone, or a file on a full disk, must not end the service.
	process.stderr.on("error", () => {});
	if (args.length === 0) {
		program.outputHelp();
		return;
	}
	try {
		await program.parseAsync(args, { from: "user" });
	} catch (error) {
		if (error instanceof CommanderError) {
			process.exitCode = error.exitCode === 0 ? 0 : 2;
		} else if (error instanceof CommandError) {
			for (const line of error.lines) console.error(line);
			process.exitCode = error.exitCode;
		} else if (await isExpected(error)) {
			console.error(cleanLines((error as Error).message));
			// A failed fetch names a cause if there was no connection.
			const failure = (error as { cause?: Error }).cause?.cause;
			if ((error as Error).name === "ConnectionError" && failure !== undefined)
				console.error(
					isUntrusted(failure)
						? `The service can't be trusted: ${UNTRUSTED_ADVICE}.`
						: "Is the service running, and is --url (or POSTHORN_URL) its address?",
				);
			process.exitCode = 1;
		} else if (LEFT_QUESTION.has((error as Error).name)) {
			process.exitCode = 130;
		} else {
			const { adviceAtStart } = await import("@posthorn/server/doctor");
			console.error(adviceAtStart(error as Error));
			process.exitCode = 1;
		}
	}
}

/** A refusal of the service, or a service that can't be reached: its message says everything. */
async function isExpected(error: unknown): Promise<boolean> {
	return error instanceof (await import("@posthorn/client")).PosthornError;
}
