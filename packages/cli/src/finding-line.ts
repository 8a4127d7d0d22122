import type { Finding } from "@posthorn/server/doctor";
import pc from "picocolors";

const MARKS: Readonly<Record<Finding["state"], string>> = {
	ok: pc.green("✔"),
	warning: pc.yellow("!"),
	fault: pc.red("✘"),
};

/** A finding as `posthorn doctor` prints it; `posthorn serve` prints faults the same way. */
export const findingLine = ({ state, name, text }: Finding): string => `${MARKS[state]} ${name.padEnd(14)} ${text}`;
