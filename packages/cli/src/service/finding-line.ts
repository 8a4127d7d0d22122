import type { Finding } from "@posthorn/server/doctor";
import { colors, errorColors } from "../colors.ts";

const marksOf = ({ green, yellow, red }: typeof colors): Readonly<Record<Finding["state"], string>> => ({
	ok: green("✔"),
	warning: yellow("!"),
	fault: red("✘"),
});

const lineOf =
	(marks: ReturnType<typeof marksOf>) =>
	({ state, name, text }: Finding): string =>
		`${marks[state]} ${name.padEnd(14)} ${text}`;

/** A finding as `posthorn doctor` prints it, on standard output. */
export const findingLine = lineOf(marksOf(colors));

/** The same on standard error, such as for faults that keep `posthorn serve` from starting. */
export const findingErrorLine = lineOf(marksOf(errorColors));
