import { CLEAR_LINE, redrawn } from "@posthorn/testkit/terminal";
import pc from "picocolors";

const BAR_WIDTH = 24;

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
		if (this.#out.isTTY) this.#out.write(CLEAR_LINE);
		this.#out.write(`${pc.green("✓")} ${this.#title}: ${summary}\n`);
	}

	#draw(state: string): void {
		if (this.#out.isTTY) this.#out.write(redrawn(`  ${this.#title} ${state}`));
	}
}
