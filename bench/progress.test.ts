import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { Progress } from "./progress.ts";

/** Counts the lines that a terminal uses. It wraps after `columns` characters unless line wrap is off. */
class Terminal {
	readonly isTTY = true;
	readonly #columns: number;
	#column = 0;
	#wraps = true;
	lines = 1;

	constructor(columns: number) {
		this.#columns = columns;
	}

	write(text: string): void {
		const marked = text.replaceAll("\x1b[?7l", "⊣").replaceAll("\x1b[?7h", "⊢");
		for (const character of stripVTControlCharacters(marked)) {
			if (character === "⊣" || character === "⊢") this.#wraps = character === "⊢";
			else if (character === "\r") this.#column = 0;
			else this.#print();
		}
	}

	#print(): void {
		if (this.#column === this.#columns && this.#wraps) {
			this.lines++;
			this.#column = 0;
		}
		this.#column = Math.min(this.#column + 1, this.#columns);
	}
}

// Each update of a long line added one to a terminal of 80 columns.
test("keeps a line that is wider than the terminal in one row", () => {
	const terminal = new Terminal(80);
	const progress = new Progress(terminal as unknown as NodeJS.WriteStream);
	progress.start("PostgreSQL, webhooks 1,000, one event to 10");
	for (const done of [40_000, 120_000, 240_000]) progress.update(done, 240_000);
	expect(terminal.lines).toBe(1);
});
