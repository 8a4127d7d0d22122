import pc from "picocolors";

const BAR_WIDTH = 24;
/** Switch a terminal's line wrap off and on: a line that wraps can't be redrawn, so each update would add lines. */
const CUT = "\x1b[?7l";
const WRAP = "\x1b[?7h";

/** Reports on standard error what is being measured and its progress; redraws its line only on a terminal. */
export class Progress {
	readonly #out: NodeJS.WriteStream;
	#title = "";

	constructor(out: NodeJS.WriteStream = process.stderr) {
		this.#out = out;
	}

	start(title: string): void {
		this.#title = title;
		this.#draw(pc.dim("…"));
	}

	update(done: number, total: number): void {
		const filled = total === 0 ? BAR_WIDTH : Math.round((Math.min(done, total) / total) * BAR_WIDTH);
		const bar = "█".repeat(filled) + pc.dim("░".repeat(BAR_WIDTH - filled));
		this.#draw(`${bar} ${done.toLocaleString("en")} of ${total.toLocaleString("en")}`);
	}

	finish(summary: string): void {
		if (this.#out.isTTY) this.#out.write("\r\x1b[K");
		this.#out.write(`${pc.green("✓")} ${this.#title}: ${summary}\n`);
	}

	#draw(state: string): void {
		if (this.#out.isTTY) this.#out.write(`\r\x1b[K${CUT}  ${this.#title} ${state}${WRAP}`);
	}
}
