/** The colors of everything that commands print: only at a terminal, unless `NO_COLOR` or `FORCE_COLOR` says otherwise. */
import type { WriteStream } from "node:tty";
import pc from "picocolors";

const { NO_COLOR, FORCE_COLOR, TERM } = process.env;
/** Values of FORCE_COLOR that mean none, as in Node. */
const NONE: ReadonlySet<string> = new Set(["0", "false"]);

/** Decided here, since picocolors also colors logs on machines that set `CI`. */
function colorsOf({ isTTY }: Partial<Pick<WriteStream, "isTTY">>) {
	const isColored = FORCE_COLOR ? !NONE.has(FORCE_COLOR) : isTTY === true && TERM !== "dumb";
	return pc.createColors(!NO_COLOR && isColored);
}

/** On standard output. */
export const colors = colorsOf(process.stdout);
/** On standard error: one of the two may be a file. */
export const errorColors = colorsOf(process.stderr);
