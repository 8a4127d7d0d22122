/** The colors of everything that commands print: only at a terminal, unless `NO_COLOR` or `FORCE_COLOR` says otherwise. */
import pc from "picocolors";

const { NO_COLOR, FORCE_COLOR, TERM } = process.env;
/** Decided here, since picocolors also colors logs on machines that set `CI`. */
const colored = !NO_COLOR && (!!FORCE_COLOR || (process.stdout.isTTY && TERM !== "dumb"));

export const colors = pc.createColors(colored);
