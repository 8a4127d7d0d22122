/** Something about how the command was called is wrong: one line for each fault. */
export class UsageError extends Error {
	readonly lines: readonly string[];

	constructor(lines: readonly string[]) {
		super(lines.join("\n"));
		this.lines = lines;
	}
}
