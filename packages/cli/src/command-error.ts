/** Ends the command with this exit code, printing one line per fault. */
export class CommandError extends Error {
	readonly lines: readonly string[];
	readonly exitCode: number;

	constructor(lines: readonly string[], exitCode: number) {
		super(lines.join("\n"));
		this.lines = lines;
		this.exitCode = exitCode;
	}
}

/** Wrong usage or configuration. */
export class UsageError extends CommandError {
	constructor(lines: readonly string[]) {
		super(lines, 2);
	}
}

/** The service can't run under the current conditions. Exit code 2 if restarting wouldn't help, otherwise 1. */
export class StartRefused extends CommandError {
	constructor(lines: readonly string[], isConfiguration: boolean) {
		super(lines, isConfiguration ? 2 : 1);
	}
}
