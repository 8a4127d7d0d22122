import type { Finding } from "@posthorn/server/doctor";
import { colors } from "../colors.ts";

const MARKS: Readonly<Record<Finding["state"], string>> = {
	ok: colors.green("✔"),
	warning: colors.yellow("!"),
	fault: colors.red("✘"),
};

/** A finding as `posthorn doctor` prints it; `posthorn serve` prints faults the same way. */
export const findingLine = ({ state, name, text }: Finding): string => `${MARKS[state]} ${name.padEnd(14)} ${text}`;
